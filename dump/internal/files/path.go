package files

// AppendPath appends the name of a source file: compDir, dir and name, joined where
// the later one is relative, with "." and ".." resolved as text. The file system of
// the machine that dumps is never read: the same input gives the same name everywhere.
// All separators of a Windows path are the one after its drive, so that one file that
// compilers name with different separators has one name.
func AppendPath(dst []byte, compDir, dir, name []byte) []byte {
	start := len(dst)
	sep := byte('/') // of the name so far; both separators count if it is absolute on Windows
	windows := false
	for _, part := range [][]byte{compDir, dir, name} {
		if len(part) == 0 {
			continue
		}
		switch {
		case isWindowsAbs(part):
			dst, windows, sep = dst[:start], true, '\\'
			if part[0] != '\\' {
				sep = part[2]
			}
		case part[0] == '/':
			dst, windows, sep = dst[:start], false, '/'
		case len(dst) > start && !isSeparator(dst[len(dst)-1], windows):
			dst = append(dst, sep)
		}
		dst = append(dst, part...)
	}
	return dst[:start+cleanPath(dst[start:], windows, sep)]
}

// isWindowsAbs reports whether p is like C:\x, C:/x or \\host\share\x, which cross
// compilers write.
func isWindowsAbs(p []byte) bool {
	if len(p) >= 2 && p[0] == '\\' && p[1] == '\\' {
		return true
	}
	letter := len(p) >= 3 && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
	return letter && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

func isSeparator(b byte, windows bool) bool {
	return b == '/' || windows && b == '\\'
}

// cleanPath resolves empty, "." and ".." elements of p in place, puts sep between the
// others, and returns the length that is left. A ".." that has nothing to remove stays in a
// relative path and vanishes in an absolute one.
func cleanPath(p []byte, windows bool, sep byte) int {
	root := 0 // bytes that nothing removes
	switch {
	case windows && p[1] == ':':
		root = 3
	case windows:
		root = 2
	case len(p) > 0 && p[0] == '/':
		root = 1
	}
	out, keep := root, root // keep: below here ".." removes nothing
	for i := root; i < len(p); {
		end := i
		for end < len(p) && !isSeparator(p[end], windows) {
			end++
		}

		// The kept parts move to the front; out never passes i.
		elem := p[i:end]
		switch {
		case len(elem) == 0 || string(elem) == ".":
		case string(elem) == ".." && out > keep:
			for out--; out > keep && !isSeparator(p[out], windows); out-- {
			}
		case string(elem) == ".." && root > 0:
		default:
			if out > root {
				p[out] = sep
				out++
			}
			out += copy(p[out:], elem)
			if string(elem) == ".." {
				keep = out
			}
		}
		i = end + 1
	}
	if out == 0 && len(p) > 0 {
		p[0] = '.'
		return 1
	}
	return out
}

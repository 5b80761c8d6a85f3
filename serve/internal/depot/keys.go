package depot

import (
	"path"
	"strings"

	"symkit/internal/filename"
)

// SymbolKey returns the key of a file of a module, NAME/ID/FILE. ok is false if no file can have the names.
func SymbolKey(name, id, file string) (key string, ok bool) {
	if strings.ContainsAny(name+file, `/\`) || name == "" || file == "" || file == "file.ptr" || !IsID(id) || strings.Trim(id, "0") == "" {
		return "", false
	}
	return filename.Escape(name) + "/" + strings.ToUpper(id) + "/" + filename.Escape(file), true
}

// IsID reports whether a text can be an id: hexadecimal digits.
func IsID(s string) bool {
	return s != "" && len(s) <= 128 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// ShortestDebugID is the number of digits of the shortest debug id: 32 and an age.
const ShortestDebugID = 33

// IsSymbols reports whether the name of a file is that of a symbol file.
func IsSymbols(file string) bool { return strings.HasSuffix(file, ".sym") }

// SymbolFileName returns the name that the symbol file of a module has in a store.
func SymbolFileName(name string) string {
	name = filename.Escape(name)
	if n := len(name) - len(".pdb"); n > 0 && strings.EqualFold(name[n:], ".pdb") {
		name = name[:n]
	}
	return name + ".sym"
}

// ContentType returns the type of a file.
func ContentType(key string) string {
	if IsSymbols(key) {
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

// BuildIDPlaces returns the keys of the files of a kind, "executable", "debuginfo" or "symbols", in stores that find
// modules by build ids (package dump/store).
func BuildIDPlaces(id, kind string) []string {
	if !IsID(id) || len(id) <= 2 {
		return nil
	}
	split := id[:2] + "/" + id[2:]
	switch kind {
	case "executable":
		return []string{split + "/executable", split, ".build-id/" + split}
	case "debuginfo":
		return []string{split + "/debuginfo", split + ".debug", ".build-id/" + split + ".debug"}
	case "symbols":
		return []string{split + "/breakpad", split + ".sym"}
	}
	return nil
}

// CodeKey returns the key of the note about the symbol file of a code file. The note has the key of the symbol file.
func CodeKey(name, id string) string {
	return path.Join(Private, "code", filename.Escape(name), strings.ToUpper(id))
}

// ELFKey returns the key of the note about the ELF file of a build id. The note has the key of the file.
func ELFKey(id, kind string) string { return path.Join(Private, "elf", strings.ToLower(id), kind) }

// RefutedKey returns the key of a symbol file that is not in the store any more, by its MD5.
func RefutedKey(name, id, sum string) string {
	return path.Join(Private, "refuted", filename.Escape(name), strings.ToUpper(id), sum+".sym")
}

// UploadKey returns the key of a file of an upload of several requests.
func UploadKey(id, name string) string { return path.Join(Private, "uploads", id, name) }

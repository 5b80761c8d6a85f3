package swift

import "strings"

// identifier takes an identifier.
func (s *stack) identifier() *entry {
	var text strings.Builder
	encoded := s.take("00")
	words := !encoded && s.take("0")
	for again := true; again && !s.bad; again = words {
		for words && s.in != "" && isLetter(s.in[0]) {
			c := s.next()
			words = c >= 'a'
			i := int(c|0x20) - 'a'
			if i >= len(s.words) {
				return s.fail()
			}
			text.WriteString(s.words[i])
		}
		if s.take("0") {
			break
		}
		n := s.digits()
		if encoded {
			s.take("_")
		}
		if n == 0 || n > len(s.in) || text.Len() > 1<<16 {
			return s.fail()
		}
		part := s.in[:n]
		s.in = s.in[n:]
		if encoded {
			part = s.decoded(part)
		} else {
			s.split(part)
		}
		text.WriteString(part)
	}
	return s.sub(&entry{kind: kindIdentifier, text: text.String()})
}

// split notes the words of an identifier, which end at underscores and in front of capital letters.
func (s *stack) split(part string) {
	from := -1
	for i := 0; i <= len(part); i++ {
		end := i == len(part) || part[i] == '_'
		if !end && i > 0 && 'A' <= part[i] && part[i] <= 'Z' {
			end = part[i-1] < 'A' || part[i-1] > 'Z'
		}
		if from >= 0 && end {
			if i-from > 1 && len(s.words) < 26 {
				s.words = append(s.words, part[from:i])
			}
			from = -1
		}
		if from < 0 && i < len(part) && part[i] != '_' && !isDigit(part[i]) {
			from = i
		}
	}
}

// decoded returns the text of an identifier in Punycode, whose digits are a-z, A-J and whose delimiter is
// an underscore. ASCII that symbols cannot have stands at U+D800.
func (s *stack) decoded(part string) string {
	var out []rune
	if i := strings.LastIndexByte(part, '_'); i >= 0 {
		out, part = []rune(part[:i]), part[i+1:]
	}
	code, at, bias := 128, 0, 72
	for part != "" {
		before, sum, weight := at, int64(at), int64(1)
		for k := 36; ; k += 36 {
			if part == "" || weight > 1<<26 || sum > 1<<30 {
				s.bad = true
				return ""
			}
			digit := int(part[0]) - 'a'
			if digit < 0 {
				digit = int(part[0]) - 'A' + 26
			}
			part = part[1:]
			sum += int64(digit) * weight
			threshold := min(max(k-bias, 1), 26)
			if digit < threshold {
				break
			}
			weight *= int64(36 - threshold)
		}
		if sum > 1<<30 || sum < 0 {
			s.bad = true
			return ""
		}

		at = int(sum)
		size := len(out) + 1
		delta := (at - before) / 2
		if before == 0 {
			delta = at / 700
		}
		delta += delta / size
		bias = 0
		for delta > 455 {
			delta /= 35
			bias += 36
		}
		bias += 36 * delta / (delta + 38)
		code += at / size
		at %= size
		if code > 0x10ffff || at < 0 {
			s.bad = true
			return ""
		}
		out = append(out[:at], append([]rune{rune(code)}, out[at:]...)...)
		at++
	}
	for i, c := range out {
		if c >= 0xd800 && c < 0xd880 {
			out[i] = c - 0xd800
		}
	}
	return string(out)
}

// symbol writes what the stack has at the end: marks, then one entry.
func (s *stack) symbol() (string, bool) {
	if s.bad {
		return "", false
	}
	text, forward, special := "", false, false
	for {
		e := s.pop("AP")
		if e == nil {
			break
		}
		if e.text == "specialized " {
			if special {
				continue
			}
			special = true
		}
		if forward && e.text != "" {
			text += " for "
			forward = false
		}
		text += e.text
		forward = forward || e.kind == kindForwarder
	}
	if len(s.all) == 0 && forward {
		return text, true // a partial application of what is not known
	}
	if len(s.all) != 1 {
		return "", false
	}
	if forward {
		text += " for "
	}
	e := s.all[0]
	if text == "" && strings.IndexByte("tcox", e.kind) < 0 {
		return "", false
	}
	return text + e.text, true
}

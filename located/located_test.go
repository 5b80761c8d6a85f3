package located

import "testing"

func TestErrorText(t *testing.T) {
	for section, want := range map[string]string{
		".debug_line":         ".debug_line+0x10: truncated",
		"section 3":           "section 3+0x10: truncated",
		".\x1b[2J\n\xff.text": `.\x1b[2J\x0a\xff.text+0x10: truncated`,
	} {
		if got := (&Error{section, 16, ErrTruncated}).Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

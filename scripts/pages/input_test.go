package pages

import (
	"context"
	"fmt"

	cdp "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// keys presses keys.
func (p *tab) keys(text string) {
	p.t.Helper()
	switch text {
	case "\r":
		text = kb.Enter
	case "\ue014":
		text = kb.ArrowRight
	case "\x1b":
		text = kb.Escape
	}
	p.do(chromedp.KeyEvent(text))
}

// key presses one key as a keyboard does: a page that handles the key keeps the character from the field.
func (p *tab) key(text string) {
	p.t.Helper()
	p.do(input.DispatchKeyEvent(input.KeyDown).WithKey(text).WithText(text), input.DispatchKeyEvent(input.KeyUp).WithKey(text))
}

// click clicks on the first element of a selector.
func (p *tab) click(selector string) {
	p.t.Helper()
	p.do(chromedp.ScrollIntoView(selector, chromedp.ByQuery), chromedp.Click(selector, chromedp.ByQuery))
}

// choose chooses an option of a list.
func (p *tab) choose(selector, value string) {
	p.t.Helper()
	p.text(fmt.Sprintf(`(() => { const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event("change")); })()`, selector, value))
}

// grantClipboard lets a page read the clipboard, as a test has to.
func grantClipboard(url string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		return cdp.GrantPermissions([]cdp.PermissionType{cdp.PermissionTypeClipboardReadWrite, cdp.PermissionTypeClipboardSanitizedWrite}).Do(ctx)
	})
}

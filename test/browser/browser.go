// Package browser drives a headless Chromium in tests. Tests skip where there is none: make browser unpacks it into bin/.
package browser

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

const (
	// limit bounds one test in a browser, and patience the wait for one condition.
	limit, patience = 5 * time.Minute, 40 * time.Second
	// pause is the time between two looks at a condition.
	pause = 50 * time.Millisecond
)

// Browser is a tab of a browser of its own, which is closed with the test.
type Browser struct {
	t testing.TB
	// do runs tasks in the tab, which chromedp knows by a context.
	do func(task func(context.Context) error) error
	*console
}

// console has what pages have written to the console, violations of the security policy included.
type console struct {
	mu    sync.Mutex
	lines []string
}

// In gives the tab to a subtest.
func (b *Browser) In(t testing.TB) *Browser {
	return &Browser{t: t, do: b.do, console: b.console}
}

// root is the folder of the repository.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// find returns the path of a Chromium and the environment that it needs.
func find() (path string, env []string, err error) {
	unpacked := filepath.Join(root(), "bin", "chromium")
	path = filepath.Join(unpacked, "usr", "lib", "chromium", "chromium-headless-shell")
	if _, err := os.Stat(path); err == nil {
		libraries := filepath.Join("lib", runtimeArch())
		return path, []string{
			"LD_LIBRARY_PATH=" + strings.Join([]string{filepath.Join(unpacked, "usr", libraries),
				filepath.Join(unpacked, "usr", libraries, "pulseaudio"), filepath.Join(unpacked, libraries)}, ":"),
			"FONTCONFIG_SYSROOT=" + unpacked,
		}, nil
	}
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil, nil
		}
	}
	return "", nil, errors.New("no Chromium: run make browser")
}

// runtimeArch returns Debian's name of the machine's architecture.
func runtimeArch() string {
	if runtime.GOARCH == "arm64" {
		return "aarch64-linux-gnu"
	}
	return "x86_64-linux-gnu"
}

// Open starts a browser with a window of a size, or skips the test.
func Open(t testing.TB, width, height int) *Browser {
	t.Helper()
	path, env, err := find()
	if err != nil {
		t.Skip(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.Env(env...), chromedp.NoSandbox,
		chromedp.WindowSize(width, height), chromedp.UserDataDir(t.TempDir()), chromedp.Flag("ignore-certificate-errors", true))
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	ctx, end := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(end)
	ctx, end = chromedp.NewContext(ctx)
	t.Cleanup(end)
	b := &Browser{t: t, do: func(task func(context.Context) error) error { return task(ctx) }, console: &console{}}
	messages := chromedp.Console(ctx)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	go func() { // ends with ctx
		for m, err := range messages {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.lines = append(b.lines, string(m.Type)+": "+m.Text)
			b.mu.Unlock()
		}
	}()
	return b
}

// run runs an action in the tab, and returns its value.
func run[T any](b *Browser, action chromedp.Action[T]) (value T, err error) {
	err = b.do(func(ctx context.Context) error {
		value, err = chromedp.Run(ctx, action)
		return err
	})
	return value, err
}

// Go opens a page and waits until it is loaded.
func (b *Browser) Go(url string) {
	b.t.Helper()
	if _, err := run(b, chromedp.Navigate(url)); err != nil {
		b.t.Fatalf("open %s: %v", url, err)
	}
}

// Eval returns the value of an expression on the page.
func Eval[T any](b *Browser, expression string) T {
	b.t.Helper()
	value, err := run(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// Text returns the text of the page as a user sees it.
func (b *Browser) Text() string {
	b.t.Helper()
	return Eval[string](b, "document.body.innerText")
}

// Wait waits until an expression on the page is true.
func (b *Browser) Wait(expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		is, err := run(b, chromedp.Evaluate[bool]("!!("+expression+")"))
		if is && err == nil {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("want %s, got the page\n%s\nand the console %q, error %v", expression, b.Text(), b.Console(), err)
		}
	}
}

// WaitText waits until the page shows a text.
func (b *Browser) WaitText(text string) {
	b.t.Helper()
	b.Wait("document.body.innerText.includes(" + quote(text) + ")")
}

func quote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(text) + "'"
}

// Keys presses keys in the element that has the focus.
func (b *Browser) Keys(keys string) {
	b.t.Helper()
	if _, err := run(b, chromedp.KeyEvent(keys)); err != nil {
		b.t.Fatalf("press %q: %v", keys, err)
	}
}

// Click clicks on the first element of a CSS selector.
func (b *Browser) Click(selector string) {
	b.t.Helper()
	if _, err := run(b, chromedp.Click(chromedp.CSS(selector))); err != nil {
		b.t.Fatalf("click on %s: %v", selector, err)
	}
}

// Dark has pages see a user who prefers dark colors, or light ones.
func (b *Browser) Dark(on bool) {
	b.t.Helper()
	value := "light"
	if on {
		value = "dark"
	}
	if err := b.do(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}}})
		return err
	}); err != nil {
		b.t.Fatal(err)
	}
}

// AllowClipboard has pages write to the clipboard and read from it without a question to the user.
func (b *Browser) AllowClipboard() {
	b.t.Helper()
	for _, name := range []string{"clipboard-write", "clipboard-read"} {
		if err := b.do(func(ctx context.Context) error {
			_, err := chromedp.Call(ctx, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
				Permission: &cdpbrowser.PermissionDescriptor{Name: name}, Setting: cdpbrowser.PermissionSettingGranted})
			return err
		}); err != nil {
			b.t.Fatal(err)
		}
	}
}

// Resize sets the size of the window.
func (b *Browser) Resize(width, height int) {
	b.t.Helper()
	if _, err := run(b, chromedp.EmulateViewport(int64(width), int64(height))); err != nil {
		b.t.Fatal(err)
	}
}

// Screenshots is the environment variable with the folder that pictures are written to; none are if it is not set.
const Screenshots = "SCREENSHOTS"

// Screenshot writes the whole page to a PNG file.
func (b *Browser) Screenshot(name string) {
	b.t.Helper()
	b.write(name, chromedp.FullScreenshot(100))
}

// Picture writes the part of the page that the window shows to a PNG file.
func (b *Browser) Picture(name string) {
	b.t.Helper()
	b.write(name, chromedp.CaptureScreenshot())
}

func (b *Browser) write(name string, picture chromedp.Action[[]byte]) {
	b.t.Helper()
	dir := os.Getenv(Screenshots)
	if dir == "" {
		return
	}
	png, err := run(b, picture)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// Console returns what pages have written to the console.
func (c *console) Console() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.lines...)
}

// Violations returns those rules of axe-core, with the elements, that the page violates. It returns false where bin/axe.min.js is missing.
func (b *Browser) Violations() ([]string, bool) {
	b.t.Helper()
	script, err := os.ReadFile(filepath.Join(root(), "bin", "axe.min.js"))
	if err != nil {
		return nil, false
	}
	Eval[any](b, string(script)+";null")
	return Eval[[]string](b, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => v.id + ": " + v.help + ": " +
		v.nodes.map(n => n.html.slice(0, 200) + " " + n.failureSummary).join("; ")))`), true
}

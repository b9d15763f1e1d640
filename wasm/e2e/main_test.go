package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

var (
	shots = flag.String("shots", "", "keep screenshots in this folder")
	built = flag.String("bin", "", "test this command instead of building one")
	most  = flag.Duration("wait", limit, "give up waiting for the page after this time")
	long  = flag.Bool("long", false, "also read the very large files")
)

// What all tests share: one build, one browser, one server of the bare page.
var (
	product  *Product
	chromium *Browser
	site     string // address of the page without files, ends with a slash
)

func TestMain(m *testing.M) {
	flag.Parse()
	limit = *most
	code, err := prepared(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func prepared(tests func() int) (code int, err error) {
	folder, err := os.MkdirTemp("", "rollscope-e2e-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	var wait sync.WaitGroup
	var failed error
	wait.Go(func() {
		if *built != "" {
			product = &Product{}
			product.Bin, failed = filepath.Abs(*built)
		} else {
			product, failed = Build(folder)
		}
	})
	var stop func()
	chromium, stop, err = StartBrowser(folder)
	wait.Wait()
	if err != nil {
		return 1, err
	}
	defer stop()
	if failed != nil {
		return 1, failed
	}
	url, end, err := product.start(folder, "serve")
	if err != nil {
		return 1, err
	}
	site = url
	code = tests()
	if b, err := big(); err == nil {
		os.RemoveAll(b.folder)
	}
	return code, end()
}

// newPage opens an empty tab; see [Page].
func newPage(t testing.TB) *Page {
	t.Helper()
	folder := ""
	if *shots != "" {
		folder, _ = filepath.Abs(*shots)
	}
	return chromium.NewPage(t, folder)
}

// open opens the page without files at a fragment.
func open(t testing.TB, fragment string) *Page {
	t.Helper()
	p := newPage(t)
	p.Open(site + fragment)
	return p
}

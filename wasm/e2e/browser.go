package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"

	"github.com/chromedp/chromedp"
)

// A Browser is one headless Chromium.
type Browser struct {
	ctx     context.Context
	Version string
}

// errNoBrowser tells what to do about it.
var errNoBrowser = errors.New("there is no Chromium here: run \"make browser\" at the top of the project")

// names under which Chromium is found, the one Debian gives it first.
var names = [...]string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// StartBrowser starts a Chromium with a profile of its own in folder. stop ends it.
func StartBrowser(folder string) (b *Browser, stop func(), err error) {
	path := ""
	for _, name := range names {
		if path, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err != nil {
		return nil, nil, errNoBrowser
	}
	profile, err := os.MkdirTemp(folder, "profile-")
	if err != nil {
		return nil, nil, err
	}
	allocator, release := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(path),
		chromedp.UserDataDir(profile),
		chromedp.Flag("headless", true),
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.NoFirstRun,
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		// Small shared memory, as containers have it, must not end a tab.
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.WindowSize(1280, 800),
	)
	ctx, cancel := chromedp.NewContext(allocator)
	stop = func() {
		cancel()
		release()
	}
	if err := chromedp.Do(ctx); err != nil {
		stop()
		return nil, nil, err
	}
	return &Browser{ctx: ctx}, stop, nil
}

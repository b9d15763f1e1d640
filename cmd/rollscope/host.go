package main

import (
	"io"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/term"

	"github.com/rollscope/rollscope/web"
)

// A host is what a command sees of the machine.
type host struct {
	out, err    io.Writer
	env         func(string) string
	terminal    bool // err is one
	outTerminal bool // out is one
	cpus        int
	browse      func(url string) error // opens a browser
	assets      fs.FS                  // of the page
}

func newHost() *host {
	return &host{
		out: os.Stdout, err: os.Stderr, env: os.Getenv, cpus: runtime.NumCPU(), browse: browse, assets: web.Assets(),
		terminal: term.IsTerminal(int(os.Stderr.Fd())), outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
	}
}

// plain tells whether escape sequences are unwanted (https://no-color.org) or not understood.
func (h *host) plain() bool { return h.env("NO_COLOR") != "" || h.env("TERM") == "dumb" }

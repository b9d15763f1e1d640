package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/rollscope/rollscope/core/view"
)

// A progress is the line on a terminal that says how far reading is. On anything else it says nothing.
type progress struct {
	host  *host
	total int64
	last  time.Time
	wide  int // characters on the line now
}

// progressEvery is how often the line changes.
const progressEvery = 100 * time.Millisecond

func (h *host) progress(total int64) *progress {
	return &progress{host: h, total: total, last: time.Now()}
}

// show tells how much is read. Calls must not overlap.
func (p *progress) show(bytes, rows int64) {
	if !p.host.terminal || time.Since(p.last) < progressEvery {
		return
	}
	p.last = time.Now()
	percent := int64(100)
	if p.total > 0 {
		percent = bytes * 100 / p.total
	}
	p.line(fmt.Sprintf("reading: %d %% of %s, %s rows", percent, view.Bytes(p.total), view.Group(rows)))
}

// done takes the line away.
func (p *progress) done() {
	if p.wide > 0 {
		p.line("")
	}
}

func (p *progress) line(text string) {
	if p.host.plain() {
		// Without escape sequences the rest of a longer line is blanked.
		fmt.Fprintf(p.host.err, "\r%s%s", text, strings.Repeat(" ", max(p.wide-len(text), 0)))
		if text == "" {
			fmt.Fprint(p.host.err, "\r")
		}
	} else {
		fmt.Fprintf(p.host.err, "\r%s\x1b[K", text)
	}
	p.wide = len(text)
}

// Command rollscope shows and judges the evidence that an evaluation run leaves: its rollouts, what the health
// checks say about them, and the rows that prove it.
//
// Every command is one file and one entry of the table in root.go. A command takes what it needs from the host
// (streams, environment, terminal), so the tests run it in their own process. Results go to standard output or into
// the directory of -o; talk and progress go to standard error. The exit status is 0 when done, 1 when --fail-on
// matched or a report cannot hold a value, 2 for usage and for input that is unreadable or refused, and 130 when
// the command was interrupted before it was done.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/rollscope/rollscope/core/view"
)

func main() {
	view.Version = thisBuild().Version
	os.Exit(run(newHost()))
}

// run runs the command line of the process.
func run(h *host) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal asks for an orderly end. A second one ends at once.
	context.AfterFunc(ctx, stop)
	return h.run(ctx, os.Args[1:])
}

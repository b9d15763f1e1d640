package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/rollscope/rollscope/core/health/check"
)

// The exit statuses.
const (
	exitDone        = 0
	exitMatched     = 1   // --fail-on matched, a report cannot hold a value, --journal refuse refused, or grep has no hit
	exitRefused     = 2   // usage, or input that is unreadable or refused
	exitInterrupted = 130 // 128 and the number of the interrupt signal, as shells have it
)

// A usageError is about the command line itself. Hint names the command whose help explains it.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{err: fmt.Errorf(format, args...)} }

// errMatched means that --fail-on matched. Everything has been done and printed by then.
var errMatched = errors.New("--fail-on")

// status gives the exit status of a command that ended with err.
func status(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errMatched), errors.Is(err, check.ErrIntegerRange), errors.Is(err, errRecorded):
		return exitMatched
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return exitInterrupted
	}
	return exitRefused
}

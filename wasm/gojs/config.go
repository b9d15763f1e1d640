package gojs

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"
)

// Config is what a guest sees of the world. The zero value gives it no
// arguments, no environment, no files, output that is thrown away, the real
// clock and real randomness.
type Config struct {
	// Args is the command line, program name first; "js" alone when empty.
	Args []string
	// Env holds "NAME=value" entries.
	Env []string

	// Stdin is read on a goroutine of its own, so that waiting for input does
	// not stop the guest. Nil is an empty input.
	Stdin io.Reader
	// Stdout and Stderr receive what the guest writes, unbuffered; nil discards.
	Stdout, Stderr io.Writer

	// FS is the guest's read-only file tree, its root being "/". Nil leaves
	// only Scratch.
	FS fs.FS
	// Dir is the guest's working directory, an absolute slash-separated path;
	// "/" when empty.
	Dir string
	// Scratch is the absolute path of a writable directory kept in memory that
	// starts empty and hides what FS has there. None when empty. Not available
	// to a Reactor.
	Scratch string

	// Clock is the guest's time, [SystemClock] when nil.
	Clock Clock
	// Rand is the source of random bytes, crypto/rand when nil.
	Rand io.Reader
	// Location is the guest's time zone, time.Local when nil. A reactor takes
	// its time zone from Env and FS instead.
	Location *time.Location

	// Setup is called when the built-in objects exist and before the guest
	// runs, so that it can add globals that package initialisation already
	// looks at. Not available to a Reactor.
	Setup func(in *Instance) error
}

func (c Config) withDefaults() (Config, error) {
	if len(c.Args) == 0 {
		c.Args = []string{"js"}
	}
	for _, s := range append(append([]string(nil), c.Args...), c.Env...) {
		if strings.ContainsRune(s, 0) {
			return c, fmt.Errorf("argument or environment entry %q contains a NUL", s)
		}
	}
	if c.Stdin == nil {
		c.Stdin = strings.NewReader("")
	}
	if c.Stdout == nil {
		c.Stdout = io.Discard
	}
	if c.Stderr == nil {
		c.Stderr = io.Discard
	}
	if c.Dir == "" {
		c.Dir = "/"
	}
	for _, p := range []string{c.Dir, c.Scratch} {
		if p != "" && !path.IsAbs(p) {
			return c, fmt.Errorf("path %q is not absolute", p)
		}
	}
	c.Dir = path.Clean(c.Dir)
	if c.Scratch != "" {
		if c.Scratch = path.Clean(c.Scratch); c.Scratch == "/" {
			return c, fmt.Errorf("the scratch directory cannot be the root")
		}
	}
	if c.Clock == nil {
		c.Clock = SystemClock()
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Location == nil {
		c.Location = time.Local
	}
	return c, nil
}

// Clock is the time of a guest and the only thing that makes a host wait.
type Clock interface {
	// Now is the wall clock.
	Now() time.Time
	// Elapsed is monotonic time since a fixed moment, never negative.
	Elapsed() time.Duration
	// Wait returns nil when d has passed or when wake can be received from,
	// and ctx's error when ctx is done first.
	Wait(ctx context.Context, d time.Duration, wake <-chan struct{}) error
}

// SystemClock is the time of the machine.
func SystemClock() Clock { return &systemClock{time.Now()} }

type systemClock struct{ start time.Time }

func (c *systemClock) Now() time.Time         { return time.Now() }
func (c *systemClock) Elapsed() time.Duration { return time.Since(c.start) }

func (c *systemClock) Wait(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-wake:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// VirtualClock returns a clock that starts at the given moment and takes no
// time: waiting moves it forward at once, so timers of hours run in
// milliseconds and always in the same order. Every reading moves it by one
// microsecond, so that a guest that spins until a moment arrives there.
func VirtualClock(start time.Time) Clock { return &virtualClock{start: start} }

type virtualClock struct {
	start time.Time
	mu    sync.Mutex
	past  time.Duration
}

func (c *virtualClock) advance(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.past += d
	return c.past
}

func (c *virtualClock) Now() time.Time         { return c.start.Add(c.advance(time.Microsecond)) }
func (c *virtualClock) Elapsed() time.Duration { return c.advance(time.Microsecond) }

func (c *virtualClock) Wait(ctx context.Context, d time.Duration, _ <-chan struct{}) error {
	c.advance(max(d, 0))
	return ctx.Err()
}

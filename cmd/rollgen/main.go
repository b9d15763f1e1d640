// Command rollgen writes a made-up run to a folder: one of any size for
// measurements, or the small sample run of the viewer. The same flags give the
// same bytes.
//
//	rollgen -o /data/big -rollouts 20000 -kib 52
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rollscope/rollscope/core/synth"
)

const usage = `usage: rollgen -o DIR [flags]

Writes a made-up run, rollouts.jsonl, into DIR. DIR is created when it is
missing; a rollouts.jsonl that is already there is left alone and refused.
20000 rollouts of 52 KiB are about 1 GiB.

`

// The exit codes.
const (
	exitDone    = 0
	exitRefused = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

type config struct {
	dir    string
	sample bool
	synth.Options
}

// run does the work of the command and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	c, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return exitDone
	}
	if err == nil {
		err = write(c, stderr)
	}
	if err != nil {
		fmt.Fprintln(stderr, "rollgen:", err)
		return exitRefused
	}
	return exitDone
}

func parse(args []string, stdout io.Writer) (config, error) {
	var c config
	fs := flag.NewFlagSet("rollgen", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&c.dir, "o", "", "write into this `folder`")
	fs.IntVar(&c.Rollouts, "rollouts", 20_000, "`number` of rows")
	kib := fs.Float64("kib", 52, "mean size of a row in `KiB`")
	fs.IntVar(&c.Repeats, "repeats", 4, "`number` of rows of one task")
	fs.Uint64Var(&c.Seed, "seed", 7, "another `seed`, another run")
	mix := fs.String("mix", synth.Mixed.String(), "what rows are made of: mixed, text or tokens")
	fs.BoolVar(&c.Dirty, "dirty", false, "also cut lines, repeated rows and a torn last line")
	fs.BoolVar(&c.sample, "sample", false, "write the sample run of the viewer instead; goes with -o alone")

	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stdout, usage)
			fs.SetOutput(stdout)
			fs.PrintDefaults()
		}
		return c, err
	}
	if fs.NArg() > 0 {
		return c, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if c.dir == "" {
		return c, errors.New("no folder given: use -o DIR")
	}
	var err error
	if c.Mix, err = synth.ParseMix(*mix); err != nil {
		return c, err
	}
	const most = 1 << 20 // KiB, so rows of 1 GiB
	if !(*kib > 0 && *kib <= most) {
		return c, fmt.Errorf("-kib must be above 0 and at most %d", most)
	}
	c.MeanBytes = int(*kib * 1024)
	if c.Repeats < 1 {
		return c, errors.New("-repeats must be at least 1")
	}
	fs.Visit(func(f *flag.Flag) {
		if c.sample && f.Name != "sample" && f.Name != "o" && err == nil {
			err = fmt.Errorf("-sample does not go with -%s", f.Name)
		}
	})
	return c, err
}

func write(c config, stderr io.Writer) error {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	if c.sample {
		for _, f := range synth.Sample() {
			path := filepath.Join(c.dir, f.Name)
			if err := create(path, func(w io.Writer) error { _, err := w.Write(f.Data); return err }); err != nil {
				return err
			}
			fmt.Fprintf(stderr, "%s: the sample run, %d bytes\n", path, len(f.Data))
		}
		return nil
	}
	path := filepath.Join(c.dir, "rollouts.jsonl")
	var s synth.Stats
	err := create(path, func(w io.Writer) (err error) {
		s, err = synth.Write(w, c.Options)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%s: %d lines, %d bytes, %d tasks; %d healthy, %d unhealthy, %d unobserved; %d repeated, %d unreadable\n",
		path, s.Lines, s.Bytes, s.Tasks, s.Healthy, s.Unhealthy, s.Unobserved, s.Repeated, s.Unreadable)
	return nil
}

// create fills a new file and removes it again when that fails.
func create(path string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = fill(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// Package synth makes up rollout rows: runs of any size for measurements and
// tests, and the small sample run that the viewer shows to somebody who has no
// data at hand.
//
// Its nouns: a [Kind] says what is right or wrong with a rollout and which
// checks must notice; a [Maker] assembles rows of a run from a pool of ready
// JSON texts, each row a pure function of the seed and its number; [Write] makes
// a whole rollouts file and tells in its [Stats] what a reader must find there.
//
//	stats, err := synth.Write(w, synth.Options{Rollouts: 20_000, MeanBytes: 52 << 10, Seed: 7})
//
// Nothing is random: the same options give the same bytes, on every machine and
// in every build. A row follows the trajectory, model-call and performance specs
// (trajectory.md §2, model-calls.md §5 and §8, perf.md §1), and a healthy row is
// healthy by all checks of health.md §8.
package synth

import (
	"errors"
	"fmt"
	"io"
)

// Mix says what the bytes of the rows are made of.
type Mix uint8

const (
	Mixed      Mix = iota // text and, on every message, short lists of token ids
	TextOnly              // no token lists
	TokenHeavy            // mostly token lists
)

var mixNames = [...]string{Mixed: "mixed", TextOnly: "text", TokenHeavy: "tokens"}

// String returns the name that [ParseMix] reads.
func (m Mix) String() string {
	if int(m) < len(mixNames) {
		return mixNames[m]
	}
	return "unknown"
}

// ParseMix returns the mix of a name: mixed, text or tokens.
func ParseMix(name string) (Mix, error) {
	for m, known := range mixNames {
		if name == known {
			return Mix(m), nil
		}
	}
	return 0, fmt.Errorf("unknown mix %q: want mixed, text or tokens", name)
}

// Options describe a made-up run.
type Options struct {
	Rollouts  int    // rows, not counting what Dirty adds; 0 is an empty run
	Repeats   int    // rows of one task; 0 means 4
	MeanBytes int    // mean size of a row with its line end; 0 means 52 KiB; one turn is the least: some 9 KiB of text, 30 KiB with many tokens
	Seed      uint64 // another seed, another run
	Mix       Mix
	Dirty     bool // also rows cut in half, repeated rows and a torn last line
}

const (
	defaultRepeats = 4
	defaultMean    = 52 << 10
)

var errNegative = errors.New("rollouts, repeats and mean size must not be negative")

func (o Options) withDefaults() (Options, error) {
	if o.Rollouts < 0 || o.Repeats < 0 || o.MeanBytes < 0 {
		return o, errNegative
	}
	if int(o.Mix) >= len(mixNames) {
		return o, fmt.Errorf("unknown mix %d", o.Mix)
	}
	if o.Repeats == 0 {
		o.Repeats = defaultRepeats
	}
	if o.MeanBytes == 0 {
		o.MeanBytes = defaultMean
	}
	return o, nil
}

// Stats tell what Write wrote and what a reader must find in it.
// Rows + Repeated + Unreadable = Lines.
type Stats struct {
	Lines      int   // physical lines, none of them blank
	Bytes      int64 // size of the file
	Longest    int   // bytes of the longest line, without its line end
	Rows       int   // readable rows, each identity once
	Repeated   int   // readable rows that repeat the identity of another
	Unreadable int   // lines that are no JSON object, the torn tail included
	Tasks      int   // tasks that the readable rows name
	Kinds      [KindCount]int

	// Verdicts of the health pass over all lines.
	Healthy, Unhealthy, Unobserved int
}

// flushAt is how many bytes are gathered before they are written.
const flushAt = 1 << 20

// Write writes a rollouts file: one row per line, tasks and repeats in order.
// It stops at the first error of w; the Stats then tell what was made so far.
func Write(w io.Writer, o Options) (Stats, error) {
	m, err := New(o)
	if err != nil {
		return Stats{}, fmt.Errorf("make a run: %w", err)
	}
	o = m.options
	var s Stats
	var buf, line []byte
	end := func(text []byte) {
		s.Lines++
		s.Bytes += int64(len(text)) + 1
		s.Longest = max(s.Longest, len(text))
	}
	// A few rows of every run are spoilt, however short it is; a long run keeps
	// two in a thousand.
	every := min(max(o.Rollouts/8, 3), 500)
	for n := range o.Rollouts {
		line = m.AppendRow(line[:0], n)
		buf = append(append(buf, line...), '\n')
		end(line)
		kind := m.Kind(n)
		s.Rows++
		s.Kinds[kind]++
		repeated := o.Dirty && n%every == every*2/3
		if repeated {
			buf = append(append(buf, line...), '\n')
			end(line)
			s.Repeated++
		}
		switch verdict := kind.Verdict(); {
		case repeated:
			s.Unhealthy += 2
		case verdict == "healthy":
			s.Healthy++
		case verdict == "unhealthy":
			s.Unhealthy++
		default:
			s.Unobserved++
		}
		if o.Dirty && n%every == every/3 {
			cut := line[:len(line)/2]
			buf = append(append(buf, cut...), '\n')
			end(cut)
			s.Unreadable++
			s.Unhealthy++
		}
		if len(buf) >= flushAt {
			if _, err := w.Write(buf); err != nil {
				return s, fmt.Errorf("write row %d: %w", n, err)
			}
			buf = buf[:0]
		}
	}
	s.Tasks = (o.Rollouts + o.Repeats - 1) / o.Repeats
	if o.Dirty {
		line = m.AppendRow(line[:0], o.Rollouts)
		tail := line[:len(line)/3]
		buf = append(buf, tail...)
		end(tail)
		s.Bytes-- // no line end
		s.Unreadable++
		s.Unhealthy++
	}
	if len(buf) > 0 {
		if _, err := w.Write(buf); err != nil {
			return s, fmt.Errorf("write the last rows: %w", err)
		}
	}
	return s, nil
}

// Rows returns the rows of a run in memory, without line ends. Dirty adds
// nothing here.
func Rows(o Options) ([][]byte, error) {
	m, err := New(o)
	if err != nil {
		return nil, fmt.Errorf("make rows: %w", err)
	}
	rows := make([][]byte, o.Rollouts)
	for n := range rows {
		rows[n] = m.AppendRow(nil, n)
	}
	return rows, nil
}

// Row returns row n of a run, without its line end. Whoever needs many takes a
// [Maker], which builds its pool of texts once.
func Row(o Options, n int) ([]byte, error) {
	m, err := New(o)
	if err != nil {
		return nil, fmt.Errorf("make a row: %w", err)
	}
	return m.AppendRow(nil, n), nil
}

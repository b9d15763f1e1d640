package modelcall

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/quantile"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// A Row is one row of a run with the digest of its calls.
type Row struct {
	Source   int   // position of its file in the run, from 0
	Line     int64 // physical line in the file, from 1
	Ordinal  int64 // among the rows of the run, from 0
	Identity rollout.Identity
	Agent    string
	Digest   []byte // of the Mapper; the reduction keeps it
}

// A Reducer takes the rows of a run in order. It keeps their digests and below a hundred bytes besides.
type Reducer struct{ rows []Row }

// Grow makes room for n more rows.
func (r *Reducer) Grow(n int) { r.rows = slices.Grow(r.rows, n) }

// Add takes the next row. The error wraps [ErrDigest].
func (r *Reducer) Add(row *Row) error {
	if _, err := Open(row.Digest); err != nil {
		return fmt.Errorf("row %d: %w", row.Ordinal, err)
	}
	r.rows = append(r.rows, *row)
	return nil
}

// Merge takes the rows of another reducer, which come behind its own.
func (r *Reducer) Merge(other *Reducer) { r.rows = append(r.rows, other.rows...) }

// A Tally counts calls of one kind.
type Tally struct {
	Value  string
	Calls  int64
	Failed int64
}

// A Sums adds the tokens of calls: of each kind the sum and how many calls know it.
type Sums struct {
	In, Out, Reasoning, Total, Cached TokenSum
}

// A TokenSum is the sum of a token count over the calls that know it.
type TokenSum struct {
	Sum   integer.Int
	Calls int64
}

func (t *TokenSum) add(n lax.Count) {
	if n.Set {
		t.Sum = t.Sum.Add(n.Int)
		t.Calls++
	}
}

// A Group describes the calls of one model on one server in one dialect; of the whole run, where all are "".
type Group struct {
	Server, Model, Dialect string
	Calls, Failed          int64
	Cached                 int64 // calls of which part of the prompt was cached
	Tools                  int64 // tool calls asked for
	Tokens                 Sums
	LatencyMS, TTFTMS      quantile.Spread
	// Rates in tokens a second: of the whole call, and behind the first token.
	OutRate, GenerationRate quantile.Spread
	First, Last             lax.Real // start of the first, end of the last call
}

// A Report is about all calls of a run.
type Report struct {
	Rows, WithCalls          int64
	Attached, FromTrajectory int64 // rows by where their calls come from
	All                      Group
	Groups                   []Group
	Status, Category, Finish []Tally // in order of their values; "" is null

	rows []Row
}

// gathering is a group whose lists are being filled.
type gathering struct {
	Group
	lean                           bool
	latency, ttft, out, generation []float64
}

func (g *gathering) add(c *Summary) {
	g.Calls++
	if c.Failed() {
		g.Failed++
	}
	if c.Cached.Set && c.Cached.Int.Sign() > 0 {
		g.Cached++
	}
	g.Tools += int64(c.Tools)
	g.Tokens.In.add(c.TokensIn)
	g.Tokens.Out.add(c.TokensOut)
	g.Tokens.Reasoning.add(c.TokensReasoning)
	g.Tokens.Total.add(c.TokensTotal)
	g.Tokens.Cached.add(c.Cached)
	if !g.lean {
		g.measure(c)
	}
	if c.Started.Set && (!g.First.Set || c.Started.Value < g.First.Value) {
		g.First = c.Started
	}
	if c.Completed.Set && (!g.Last.Set || c.Completed.Value > g.Last.Value) {
		g.Last = c.Completed
	}
}

// measure notes how long a call took and how fast it was.
func (g *gathering) measure(c *Summary) {
	if c.LatencyMS.Set {
		g.latency = append(g.latency, c.LatencyMS.Value)
	}
	if c.TTFTMS.Set {
		g.ttft = append(g.ttft, c.TTFTMS.Value)
	}
	if rate, ok := c.OutRate(); ok {
		g.out = append(g.out, rate)
	}
	if rate, ok := c.GenerationRate(); ok {
		g.generation = append(g.generation, rate)
	}
}

func (g *gathering) close() Group {
	g.LatencyMS, g.TTFTMS = quantile.SpreadOf(g.latency), quantile.SpreadOf(g.ttft)
	g.OutRate, g.GenerationRate = quantile.SpreadOf(g.out), quantile.SpreadOf(g.generation)
	return g.Group
}

// OutRate is how many tokens came a second over the whole call (spec perf §4).
func (s *Summary) OutRate() (rate float64, ok bool) {
	n, fits := s.TokensOut.Int.Int64()
	if !s.TokensOut.Set || !fits || !s.LatencyMS.Set || !(s.LatencyMS.Value > 0) {
		return 0, false
	}
	return float64(n) / (s.LatencyMS.Value / 1000), true
}

// GenerationRate is how many tokens came a second once the first was there.
func (s *Summary) GenerationRate() (rate float64, ok bool) {
	n, fits := s.TokensOut.Int.Int64()
	if !s.TokensOut.Set || !fits || !s.LatencyMS.Set || !s.TTFTMS.Set || !(s.TTFTMS.Value < s.LatencyMS.Value) {
		return 0, false
	}
	return float64(n) / ((s.LatencyMS.Value - s.TTFTMS.Value) / 1000), true
}

// Report sums the calls up. The error wraps [ErrDigest].
func (r *Reducer) Report() (*Report, error) {
	s := NewSumming(false)
	for i := range r.rows {
		d, err := Open(r.rows[i].Digest)
		if err != nil {
			return nil, err
		}
		calls := 0
		for d.Next() {
			s.Add(&d.Call)
			calls++
		}
		if err := d.Err(); err != nil {
			return nil, fmt.Errorf("row %d: %w", r.rows[i].Ordinal, err)
		}
		s.Row(d.Source, calls)
	}
	rep := s.Report()
	rep.rows = r.rows
	return rep, nil
}

// A Summing makes a [Report] of calls that are given one by one, such as those of a filter. It keeps their latencies and
// rates.
type Summing struct {
	lean                     bool
	report                   Report
	all                      gathering
	groups                   map[groupName]*gathering
	status, category, finish map[string]*Tally
}

type groupName struct{ server, model, dialect string }

// NewSumming begins a sum of nothing. A lean one has spreads of all calls alone, none of its groups.
func NewSumming(lean bool) *Summing {
	return &Summing{lean: lean, groups: map[groupName]*gathering{}, status: map[string]*Tally{}, category: map[string]*Tally{}, finish: map[string]*Tally{}}
}

// Row counts a row of which so many calls were added.
func (s *Summing) Row(source Source, calls int) {
	s.report.Rows++
	switch {
	case calls == 0:
		return
	case source == SourceAttachment:
		s.report.Attached++
	default:
		s.report.FromTrajectory++
	}
	s.report.WithCalls++
}

// Add adds a call.
func (s *Summing) Add(c *Summary) {
	s.all.add(c)
	key := groupName{c.Server, c.Model, c.Dialect}
	g := s.groups[key]
	if g == nil {
		g = &gathering{Group: Group{Server: c.Server, Model: c.Model, Dialect: c.Dialect}, lean: s.lean}
		s.groups[key] = g
	}
	g.add(c)
	failed := c.Failed()
	code := ""
	if c.Status.Set {
		code = c.Status.Int.String()
	}
	count(s.status, code, failed)
	count(s.category, c.Category, failed)
	count(s.finish, c.Finish, failed)
}

func count(in map[string]*Tally, value string, failed bool) {
	t := in[value]
	if t == nil {
		t = &Tally{Value: value}
		in[value] = t
	}
	t.Calls++
	if failed {
		t.Failed++
	}
}

// LatencyMS and TTFTMS are those of the calls so far, in no order that counts. They must not be changed.
func (s *Summing) LatencyMS() []float64 { return s.all.latency }

// TTFTMS are the times to the first token.
func (s *Summing) TTFTMS() []float64 { return s.all.ttft }

// Report ends the sum. It has no rows to list.
func (s *Summing) Report() *Report {
	rep := &s.report
	rep.All = s.all.close()
	for _, g := range s.groups {
		rep.Groups = append(rep.Groups, g.close())
	}
	slices.SortFunc(rep.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Server, b.Server), strings.Compare(a.Model, b.Model), strings.Compare(a.Dialect, b.Dialect))
	})
	rep.Status, rep.Category, rep.Finish = tallies(s.status, true), tallies(s.category, false), tallies(s.finish, false)
	return rep
}

// tallies sorts counts: by number where they are numbers, else by how many there are.
func tallies(m map[string]*Tally, numeric bool) []Tally {
	list := make([]Tally, 0, len(m))
	for _, t := range m {
		list = append(list, *t)
	}
	slices.SortFunc(list, func(a, b Tally) int {
		if numeric {
			x, errX := strconv.ParseInt(a.Value, 10, 64)
			y, errY := strconv.ParseInt(b.Value, 10, 64)
			if errX == nil && errY == nil {
				return cmp.Compare(x, y)
			}
			return strings.Compare(a.Value, b.Value)
		}
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Value, b.Value))
	})
	return list
}

// Each gives the calls of the run in the order of its rows until f returns false. Row and call are valid during f.
func (r *Report) Each(f func(*Row, *Summary) bool) {
	for i := range r.rows {
		d, err := Open(r.rows[i].Digest)
		if err != nil {
			return
		}
		for d.Next() {
			if !f(&r.rows[i], &d.Call) {
				return
			}
		}
	}
}

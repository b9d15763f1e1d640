package health

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/rollout"
)

// ErrIdentity means that an index of a row is neither a whole number nor a text, so that the run cannot be
// judged.
var ErrIdentity = rollout.ErrIdentity

// ErrIntegerRange means that a report cannot hold a number: it lies outside −2^63 … 2^64−1.
var ErrIntegerRange = check.ErrIntegerRange

// ErrOrder means that rows were not added in the order of the run.
var ErrOrder = errors.New("row out of order")

// A Row is one row of a run with its digest.
type Row struct {
	Source   int              // position of its file in the run, from 0
	Name     string           // of the file as it was given
	Line     int64            // physical line in the file, from 1
	Ordinal  int64            // among the non-blank lines of all files, from 0
	Identity rollout.Identity // resolved
	Digest   []byte           // of the Mapper; the reduction keeps it
	Left     bool             // it is no part of the report, since another record decides about its rollout
}

// A Reducer takes the rows of a run in order and makes its report. Besides the digests it keeps well below
// 200 bytes a row.
type Reducer struct {
	rules  Rules
	report *Report
	d      digest
	text   []byte
	source sourceOf
}

// sourceOf remembers which file the last row came from.
type sourceOf struct {
	known    bool
	position int
	index    uint32
	all      map[int]uint32
}

// NewReducer begins a reduction. The error is that of [NewRules].
func NewReducer(o Options) (*Reducer, error) {
	rules, err := NewRules(o)
	if err != nil {
		return nil, err
	}
	return &Reducer{rules: rules, report: newReport(rules)}, nil
}

// Grow makes room for n more rows.
func (r *Reducer) Grow(n int) { r.report.rows.grow(n) }

// Add takes the next row of the run. An error wraps [ErrIdentity], with file, line, member and value,
// unless such rows are skipped; [ErrDigest]; or [ErrOrder].
func (r *Reducer) Add(row *Row) error {
	rows := &r.report.rows
	if row.Ordinal != int64(rows.len()) {
		return fmt.Errorf("%s:%d: %w: ordinal %d where %d was expected", row.Name, row.Line, ErrOrder, row.Ordinal, rows.len())
	}
	if row.Left {
		r.report.stats.Left++
		r.add(row, Preview{Verdict: Skipped}, 0)
		return nil
	}
	if member, value, bad := row.Identity.Bad(); bad {
		if !r.rules.skipBad {
			return fmt.Errorf("%s:%d: %s is %s: %w", row.Name, row.Line, member, short(value), ErrIdentity)
		}
		r.report.stats.Skipped++
		r.add(row, Preview{Verdict: Skipped}, 0)
		return nil
	}
	var counts [check.RolloutCount]int
	err := r.d.open(row.Digest)
	if err == nil {
		err = r.d.rowFindings(r.rules.profile, &counts)
	}
	if err != nil {
		return fmt.Errorf("%s:%d: %w", row.Name, row.Line, err)
	}
	p := r.rules.preview(&r.d)
	flags := byte(0)
	if r.d.has(turnCallsObserved) {
		flags |= rowTurnCalls
	}
	if r.d.successful > 0 {
		flags |= rowSuccessful
	}
	if r.d.outcomes[check.V07][0] == check.LineUnreadable {
		flags |= rowUnreadable
	}
	r.add(row, p, flags)
	r.sum(p, &counts)
	return nil
}

// short cuts a value for a message.
func short(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

func (r *Reducer) add(row *Row, p Preview, flags byte) {
	rep := r.report
	rows := &rep.rows
	id := row.Identity.ID
	var task, repeat, stage uint32
	if p.Verdict == Skipped {
		task = rep.keys.intern(rollout.Key{})
		repeat, stage = task, task
	} else {
		task = rep.keys.intern(row.Identity.Task)
		repeat = rep.keys.intern(row.Identity.Rollout)
		stage = rep.keys.intern(row.Identity.Stage)
	}
	if r.text = rep.keys.appendPair(r.text[:0], task, repeat); string(r.text) == id {
		// Most ids are made of the indices; they need not be kept.
		id, flags = "", flags|rowDerived
	}
	rows.digest = append(rows.digest, row.Digest)
	rows.id = append(rows.id, id)
	rows.task = append(rows.task, task)
	rows.rollout = append(rows.rollout, repeat)
	rows.stage = append(rows.stage, stage)
	rows.source = append(rows.source, r.sourceIndex(row))
	rows.line = append(rows.line, row.Line)
	rows.verdict = append(rows.verdict, p.Verdict)
	rows.fired = append(rows.fired, p.Fired)
	rows.unobserved = append(rows.unobserved, p.Unobserved)
	rows.flags = append(rows.flags, flags)
}

// sourceIndex numbers the files of the rows.
func (r *Reducer) sourceIndex(row *Row) uint32 {
	s := &r.source
	if s.known && s.position == row.Source {
		return s.index
	}
	if s.all == nil {
		s.all = map[int]uint32{}
	}
	index, ok := s.all[row.Source]
	if !ok {
		index = uint32(len(r.report.sources))
		s.all[row.Source] = index
		r.report.sources = append(r.report.sources, Lexical(row.Name))
	}
	s.known, s.position, s.index = true, row.Source, index
	return index
}

// sum adds a row to the sums of the run.
func (r *Reducer) sum(p Preview, counts *[check.RolloutCount]int) {
	rep, d, ignored := r.report, &r.d, r.rules.ignored
	s := &rep.stats
	s.Records++
	for i, o := range d.outcomes[r.rules.profile] {
		c := &rep.checks[i]
		switch {
		case ignored.Has(i):
			c.ignored++
			continue
		case o.Unobserved():
			c.unobserved++
			c.reasons[o]++
			if o.Raised() != check.Finished && !ignored.Has(check.ExecutionError) {
				rep.checks[check.ExecutionError].fired++
			}
			continue
		}
		c.evaluated++
		c.fired += int64(counts[i])
	}
	if p.Fired != 0 {
		for i := range rep.checks[:check.RolloutCount] {
			if p.Fired.Has(i) {
				rep.checks[i].rollouts++
			}
		}
	}
	if d.has(hasPrompt) {
		s.Prompt = s.Prompt.Add(integer.FromUint(false, d.prompt))
	}
	if d.has(hasCompletion) {
		s.Completion = s.Completion.Add(integer.FromUint(false, d.completion))
	}
	if d.has(endedOnError) {
		s.EndedOnError++
	}
	if !d.has(hasCalls) {
		return
	}
	s.Captures++
	s.CapturePrompt = s.CapturePrompt.Add(d.capturePrompt)
	s.CaptureCompletion = s.CaptureCompletion.Add(d.captureCompletion)
	if d.replayed > 0 {
		s.Replayed += d.replayed
		s.ReplayedRollouts++
	}
	if d.failed == 0 {
		return
	}
	s.Errors += d.failed
	s.ErrorRollouts++
	for in := (reader{b: d.statuses}); len(in.b) > 0; {
		n, status, known := in.status()
		r.text = append(r.text[:0], "unknown"...)
		if known {
			r.text = status.Append(r.text[:0])
		}
		if at, ok := rep.statuses[string(r.text)]; ok {
			s.ByStatus[at].Calls += n
			continue
		}
		text := string(r.text)
		rep.statuses[text] = len(s.ByStatus)
		s.ByStatus = append(s.ByStatus, StatusCount{text, n})
	}
}

// Report finds duplicates, judges the tasks and gives the report, which takes everything over: the Reducer
// is of no use afterwards. The error wraps [ErrIntegerRange] when a sum cannot be written; the report can
// still be looked at then.
func (r *Reducer) Report() (*Report, error) {
	rep := r.report
	r.report = newReport(r.rules)
	r.source = sourceOf{}
	slices.SortFunc(rep.stats.ByStatus, compareStatusText)
	rep.statuses = nil
	rep.findDuplicates()
	for _, v := range rep.rows.verdict {
		switch v {
		case Healthy:
			rep.stats.Healthy++
		case Unhealthy:
			rep.stats.Unhealthy++
		case Unobserved:
			rep.stats.Unobserved++
		}
	}
	rep.judgeTasks()
	return rep, rep.stats.writable()
}

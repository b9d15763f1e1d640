package health

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/rollout"
)

// A Report is the judgement of a run. Rows are addressed by their ordinal, from 0; Skipped rows have one
// too. It may be read by several goroutines.
type Report struct {
	rules    Rules
	rows     rows
	keys     keys
	sources  []string
	tasks    []task
	checks   [check.Count]checkSum
	stats    Stats
	statuses map[string]int // position in stats.ByStatus, while rows are added
}

// rows holds the rows of a run in columns.
type rows struct {
	digest               [][]byte
	id                   []string // "" if made of the indices
	task, rollout, stage []uint32 // keys
	source               []uint32
	line                 []int64
	verdict              []Verdict
	fired, unobserved    []check.Set
	flags                []byte
	duplicates           []uint32 // rows with the same identity, 0 for a row alone; nil if there are none
	taskOf               []uint32 // position in tasks
}

// Flags of a row.
const (
	rowTurnCalls  = 1 << iota // the calls of its turns are known
	rowSuccessful             // one of them was successful
	rowUnreadable             // the line cannot be read
	rowDerived                // its id is made of its indices
)

func (c *rows) len() int { return len(c.verdict) }

func (c *rows) grow(n int) {
	c.digest = slices.Grow(c.digest, n)
	c.id = slices.Grow(c.id, n)
	for _, column := range [...]*[]uint32{&c.task, &c.rollout, &c.stage, &c.source} {
		*column = slices.Grow(*column, n)
	}
	c.line = slices.Grow(c.line, n)
	c.verdict = slices.Grow(c.verdict, n)
	c.fired = slices.Grow(c.fired, n)
	c.unobserved = slices.Grow(c.unobserved, n)
	c.flags = slices.Grow(c.flags, n)
}

// checkSum counts what came of one check.
type checkSum struct {
	fired                          int64 // findings, or flagged tasks
	evaluated, unobserved, ignored int   // rows, or tasks
	rollouts, tasks                int   // with a finding
	reasons                        [check.Outcomes]int
}

func newReport(rules Rules) *Report { return &Report{rules: rules, statuses: map[string]int{}} }

// Rules are what the run was judged by.
func (r *Report) Rules() Rules { return r.rules }

// Rows is the number of rows, skipped ones included.
func (r *Report) Rows() int { return r.rows.len() }

// Verdict is the verdict of a row.
func (r *Report) Verdict(i int) Verdict { return r.rows.verdict[i] }

// Fired is the set of checks with findings on a row.
func (r *Report) Fired(i int) check.Set { return r.rows.fired[i] }

// Missing is the set of checks that could not be judged on a row.
func (r *Report) Missing(i int) check.Set { return r.rows.unobserved[i] }

// TaskOf is the position in [Report.Tasks] of the task of a row, −1 for a skipped row.
func (r *Report) TaskOf(i int) int {
	if r.rows.verdict[i] == Skipped {
		return -1
	}
	return int(r.rows.taskOf[i])
}

// ID is the rollout id of a row.
func (r *Report) ID(i int) string {
	if r.rows.flags[i]&rowDerived == 0 {
		return r.rows.id[i]
	}
	return string(r.keys.appendPair(nil, r.rows.task[i], r.rows.rollout[i]))
}

// Findings opens the findings of a row, in report order.
func (r *Report) Findings(i int) []Finding {
	findings, _ := r.findings(i, nil)
	return findings
}

// A Finding is one thing that a check found.
type Finding = check.Finding

// Sentence puts a finding into words.
func Sentence(f Finding) string { return check.Sentence(f) }

func (r *Report) findings(i int, dst []Finding) ([]Finding, error) {
	rows := &r.rows
	if rows.fired[i] == 0 {
		return dst, nil
	}
	var d digest
	if err := d.open(rows.digest[i]); err != nil {
		return dst, err
	}
	p, ignored := r.rules.profile, r.rules.ignored
	g := check.NewGroups(d.findings)
	for g.Next() {
		outcome := d.outcomes[p][g.Check]
		if !g.In(p) || ignored.Has(g.Check) || outcome.Raised() != check.Finished && ignored.Has(check.ExecutionError) {
			continue
		}
		before := len(dst)
		dst = g.Findings(dst, outcome)
		if rows.flags[i]&rowUnreadable != 0 && g.Check == check.RecordUnreadable {
			for k := range dst[before:] {
				dst[before+k].InLine(r.sources[rows.source[i]], rows.line[i])
			}
		}
	}
	if g.Err() != nil {
		return dst, ErrDigest
	}
	if rows.duplicates != nil && rows.duplicates[i] > 0 {
		dst = append(dst, check.Duplicate(int(rows.duplicates[i])))
	}
	return dst, nil
}

// An Unjudged is a check that could not be judged, and why.
type Unjudged struct {
	Check  string // id
	Reason string // stable code; "gap" where a gap of the trajectory is the cause
	Gap    string // code of that gap
	Text   string // for people
}

func unjudged(id string, o check.Outcome) Unjudged { return Unjudged{id, o.Code(), o.Gap(), o.Text()} }

// Unobserved tells which checks could not be judged on a row, in registry order.
func (r *Report) Unobserved(i int) []Unjudged {
	list := []Unjudged{}
	set := r.rows.unobserved[i]
	var d digest
	if set == 0 || d.open(r.rows.digest[i]) != nil {
		return list
	}
	for c, o := range d.outcomes[r.rules.profile] {
		if set.Has(c) {
			list = append(list, unjudged(check.At(c).ID, o))
		}
	}
	return list
}

// Stats are the sums of a run.
type Stats struct {
	Records int // rows that were judged
	Skipped int // rows that were left out for their index
	Left    int // rows that were left out since other records decide

	Healthy, Unhealthy, Unobserved int

	Captures         int   // rows with at least one model call
	Errors           int64 // failed model calls
	ErrorRollouts    int   // rows with one
	EndedOnError     int   // rows where a chain of calls ended on a failure
	ByStatus         []StatusCount
	Replayed         int64 // model calls that repeat the identity of an earlier one of their row
	ReplayedRollouts int   // rows with one

	Prompt, Completion               integer.Int // tokens by the rows' own usage
	CapturePrompt, CaptureCompletion integer.Int // tokens by all captured calls
}

// A StatusCount is a number of failed model calls with one status, "unknown" for none. Lists of them are
// sorted by the text of the status.
type StatusCount struct {
	Status string
	Calls  int64
}

func compareStatusText(a, b StatusCount) int { return strings.Compare(a.Status, b.Status) }

func (s *Stats) writable() error {
	for _, sum := range [...]struct {
		name string
		n    integer.Int
	}{
		{"tokens.prompt", s.Prompt}, {"tokens.completion", s.Completion},
		{"tokens.capture_prompt", s.CapturePrompt}, {"tokens.capture_completion", s.CaptureCompletion},
	} {
		if !sum.n.Writable() {
			return fmt.Errorf("%s is %s: %w", sum.name, sum.n, ErrIntegerRange)
		}
	}
	return nil
}

// Stats gives the sums.
func (r *Report) Stats() Stats { return r.stats }

// A CheckStat is what came of one check. Where the check judges tasks, its numbers count tasks.
type CheckStat struct {
	Check      *check.Check
	Fired      int64 // findings, or flagged tasks
	Evaluated  int
	Unobserved int
	Ignored    int
	Rollouts   int // rows with a finding, or of a flagged task
	Tasks      int // tasks with such a row, or flagged
	Reasons    []ReasonCount
}

// A ReasonCount is how often a check was unobserved for one reason. Lists of them begin with the most
// frequent.
type ReasonCount struct {
	Reason, Gap, Text string // as in [Unjudged]
	Count             int
}

// Checks gives the counts of all checks in registry order.
func (r *Report) Checks() []CheckStat {
	list := make([]CheckStat, check.Count)
	for i := range list {
		s := &r.checks[i]
		list[i] = CheckStat{
			Check: check.At(i), Fired: s.fired, Evaluated: s.evaluated, Unobserved: s.unobserved, Ignored: s.ignored,
			Rollouts: s.rollouts, Tasks: s.tasks, Reasons: []ReasonCount{},
		}
		for o, n := range s.reasons {
			if o := check.Outcome(o); n > 0 {
				list[i].Reasons = append(list[i].Reasons, ReasonCount{o.Code(), o.Gap(), o.Text(), n})
			}
		}
		slices.SortStableFunc(list[i].Reasons, func(a, b ReasonCount) int { return b.Count - a.Count })
	}
	return list
}

// A TaskStat is one task: its repeats by verdict, and the task checks that fired or could not be judged.
type TaskStat struct {
	Key        rollout.Key
	Repeats    int
	Healthy    int
	Unhealthy  int
	Unobserved int
	Flags      []string
	Unjudged   []Unjudged
	Fired      check.Set // checks with findings on any of its rows, and those of Flags
	First      int       // ordinal of its first row
}

// Tasks lists the tasks in order of their first rows. [Report.Task] gives single ones.
func (r *Report) Tasks() []TaskStat {
	list := make([]TaskStat, len(r.tasks))
	for i := range list {
		list[i] = r.Task(i)
	}
	return list
}

// TaskCount is the number of tasks.
func (r *Report) TaskCount() int { return len(r.tasks) }

// Task gives one task by its position.
func (r *Report) Task(i int) TaskStat {
	t := &r.tasks[i]
	s := TaskStat{
		Key: r.keys.key(t.key), Repeats: t.repeats(),
		Healthy: int(t.healthy), Unhealthy: int(t.unhealthy), Unobserved: int(t.unobserved),
		Flags: t.flags.IDs(), Unjudged: []Unjudged{}, Fired: t.fired | t.flags, First: int(t.first),
	}
	for k, o := range t.missing {
		if o.Unobserved() {
			s.Unjudged = append(s.Unjudged, unjudged(check.At(check.RolloutCount+k).ID, o))
		}
	}
	return s
}

func (t *task) repeats() int { return int(t.healthy + t.unhealthy + t.unobserved) }

package health

import (
	"github.com/rollscope/rollscope/core/health/check"
)

// task is one task of the run: its index and what its repeats and rows are.
type task struct {
	key                            uint32
	first                          uint32 // its first row
	healthy, unhealthy, unobserved uint32 // repeats
	unresolved, successful         uint32 // repeats, see check.Repeats
	fired                          check.Set
	flags                          check.Set
	missing                        [check.Count - check.RolloutCount]check.Outcome
}

// findDuplicates gives every row whose stage, task and rollout index another row has too its finding.
func (r *Report) findDuplicates() {
	if r.rules.ignored.Has(check.DuplicateIdentity) {
		return
	}
	rows := &r.rows
	groups := newGroupIndex(rows.len())
	for i := range rows.verdict {
		first, found := rows.same(&groups, i)
		if !found {
			continue
		}
		if rows.duplicates == nil {
			rows.duplicates = make([]uint32, rows.len())
		}
		if rows.duplicates[first] == 0 {
			rows.duplicates[first] = 1
		}
		rows.duplicates[first]++
	}
	if rows.duplicates == nil {
		return
	}
	for i := range rows.verdict {
		if rows.verdict[i] == Skipped {
			continue
		}
		if first, _ := rows.same(&groups, i); rows.duplicates[first] > 0 {
			rows.duplicates[i] = rows.duplicates[first]
			rows.verdict[i] = Unhealthy
			rows.fired[i] = rows.fired[i].With(check.DuplicateIdentity)
			r.checks[check.DuplicateIdentity].fired++
			r.checks[check.DuplicateIdentity].rollouts++
		}
	}
}

// same finds the first row with the identity of row i; found is false if that is row i itself.
func (c *rows) same(g *groupIndex, i int) (first int, found bool) {
	if c.verdict[i] == Skipped {
		return i, false
	}
	a, b, s := c.task[i], c.rollout[i], c.stage[i]
	for slot := g.slot(a, b, s); ; slot = g.next(slot) {
		k := int(g.slots[slot]) - 1
		if k < 0 {
			g.slots[slot] = uint32(i) + 1
			return i, false
		}
		if c.task[k] == a && c.rollout[k] == b && c.stage[k] == s {
			return k, k != i
		}
	}
}

// repeat is what the rows of one rollout index of a task have in common.
type repeat struct {
	task    uint32
	row     uint32 // the first
	verdict Verdict
	flags   byte // rowTurnCalls if all have it, rowSuccessful if any has it
}

// judgeTasks groups rows into repeats and repeats into tasks, whatever their stage, and runs the task
// checks.
func (r *Report) judgeTasks() {
	rows := &r.rows
	taskOf := make([]uint32, r.keys.len()) // number of the task with a key, plus one
	rows.taskOf = make([]uint32, rows.len())
	groups := newGroupIndex(rows.len())
	repeats := make([]repeat, 0, rows.len())
	for i, v := range rows.verdict {
		if v == Skipped {
			continue
		}
		key := rows.task[i]
		if taskOf[key] == 0 {
			r.tasks = append(r.tasks, task{key: key, first: uint32(i)})
			taskOf[key] = uint32(len(r.tasks))
		}
		t := taskOf[key] - 1
		rows.taskOf[i] = t
		r.tasks[t].fired |= rows.fired[i]

		flags := rows.flags[i]
		for slot := groups.slot(t, rows.rollout[i], 0); ; slot = groups.next(slot) {
			k := groups.slots[slot]
			if k == 0 {
				groups.slots[slot] = uint32(len(repeats)) + 1
				repeats = append(repeats, repeat{t, uint32(i), v, flags})
				break
			}
			if p := &repeats[k-1]; p.task == t && rows.rollout[p.row] == rows.rollout[i] {
				if p.verdict != v {
					p.verdict = Unobserved
				}
				p.flags = p.flags&flags&rowTurnCalls | (p.flags|flags)&rowSuccessful
				break
			}
		}
	}
	for i := range repeats {
		p := &repeats[i]
		t := &r.tasks[p.task]
		switch p.verdict {
		case Healthy:
			t.healthy++
		case Unhealthy:
			t.unhealthy++
		default:
			t.unobserved++
		}
		if p.flags&rowTurnCalls == 0 {
			t.unresolved++
		}
		if p.flags&rowSuccessful != 0 {
			t.successful++
		}
	}
	r.tallyTasks()
}

func (r *Report) tallyTasks() {
	for i := range r.tasks {
		t := &r.tasks[i]
		repeats := check.Repeats{
			Healthy: int(t.healthy), Unhealthy: int(t.unhealthy), Unobserved: int(t.unobserved),
			Unresolved: int(t.unresolved), Successful: int(t.successful),
		}
		for c := range check.RolloutCount {
			if t.fired.Has(c) {
				r.checks[c].tasks++
			}
		}
		for c := check.RolloutCount; c < check.Count; c++ {
			sum := &r.checks[c]
			if r.rules.ignored.Has(c) {
				sum.ignored++
				continue
			}
			o := check.At(c).Tally(&repeats)
			t.missing[c-check.RolloutCount] = o
			if o.Unobserved() {
				sum.unobserved++
				sum.reasons[o]++
				continue
			}
			sum.evaluated++
			if o == check.Fired {
				t.flags = t.flags.With(c)
				sum.fired++
				sum.tasks++
			}
		}
	}
	for i, v := range r.rows.verdict {
		if v == Skipped {
			continue
		}
		if flags := r.tasks[r.rows.taskOf[i]].flags; flags != 0 {
			for c := check.RolloutCount; c < check.Count; c++ {
				if flags.Has(c) {
					r.checks[c].rollouts++
				}
			}
		}
	}
}

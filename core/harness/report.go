package harness

// A Report is the judgement of a run in a scope. Nothing in it changes any more.
type Report struct {
	names []string
	rows  []reported
	scope Scope
	tally Tally
}

// Under judges the same records in another scope.
func (r *Report) Under(s Scope) *Report {
	n := &Report{names: r.names, rows: r.rows, scope: s}
	n.tally = n.TallyOf(func(int) bool { return true })
	return n
}

// Scope is what the harness was expected to have.
func (r *Report) Scope() Scope { return r.scope }

// Records is how many records there are.
func (r *Report) Records() int { return len(r.rows) }

// Verdict is fulfilled if that of every record is.
func (r *Report) Verdict() Verdict { return r.tally.Verdict() }

// Tally sums up all records.
func (r *Report) Tally() *Tally { return &r.tally }

// TallyOf sums up some records.
func (r *Report) TallyOf(of func(i int) bool) Tally {
	var t Tally
	var d digest
	for i := range r.rows {
		if of(i) {
			r.open(&d, i)
			t.add(&d, r.scope)
		}
	}
	return t
}

// open reads a digest that was read before.
func (r *Report) open(d *digest, i int) { _ = d.open(r.rows[i].digest) }

// Place tells where record i stands: its source and its physical line, from 1.
func (r *Report) Place(i int) (source string, line int64) {
	return Base(r.names[r.rows[i].source]), r.rows[i].line
}

// Part tells which line of its source record i is part of, of what package jsonl calls a line, from 1, and which physical
// line within that one, from 0. [Mapper.Failures] wants both.
func (r *Report) Part(i int) (number int64, within int) {
	return r.rows[i].number, int(r.rows[i].within)
}

// Record gives everything about record i.
func (r *Report) Record(i int) Record {
	var d digest
	r.open(&d, i)
	source, line := r.Place(i)
	return d.record(sourceLine(source, line), r.scope)
}

// A Standing is where a record stands, without words.
type Standing struct {
	Applies Checks // the checks that apply
	Passes  Checks // those that pass; the other ones that apply fail
	Failed  Checks // those that fail by themselves and do not wait for another
}

// Standing gives the standing of record i.
func (r *Report) Standing(i int) Standing {
	var d digest
	r.open(&d, i)
	s := Standing{}
	s.Applies, s.Passes = d.standing(r.scope)
	s.Failed = d.failing(r.scope, s.Applies, s.Passes)
	return s
}

// Capability gives the verdict of one capability on record i.
func (r *Report) Capability(i int, c Capability) Verdict {
	var d digest
	r.open(&d, i)
	applies, passes := d.standing(r.scope)
	return capability(c, r.scope, applies, passes)
}

// First tells where on record i a check that was evaluated and failed did so first, and in how many places it did. A
// rule may fail without naming any.
func (r *Report) First(i, position int) (location string, named int64) {
	var d digest
	r.open(&d, i)
	return d.first(position)
}

package view

import (
	"strconv"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/search"
)

// questionsKept is how many questions keep their answers, so that a person can go back and forth.
const questionsKept = 4

// answersKept bounds the memory of those that are not in use, in bytes.
const answersKept = 256 << 20

// ask finds the answers to a question, begun now if nobody has asked it yet. The latest comes first.
func (d *Desk) ask(q *Question) *asked {
	for i, a := range d.asked {
		if a.serves(q) {
			copy(d.asked[1:i+1], d.asked[:i])
			d.asked[0] = a
			return a
		}
	}
	a := &asked{Question: q, answers: analysis.NewAnswers(q.number, len(d.sources))}
	d.asked = append([]*asked{a}, d.asked...)
	memory := int64(0)
	for i, old := range d.asked[1:] {
		if memory += old.answers.Memory(); i+1 >= questionsKept || memory > answersKept {
			d.asked = d.asked[:i+1]
			break
		}
	}
	return a
}

// addAnswers takes in a part of a second scan. Nobody may want it any more.
func (d *Desk) addAnswers(p *analysis.Partial) {
	for _, a := range d.asked {
		if a.number == p.Query {
			a.add(p)
			if d.chosen.found.pending {
				d.chosen.found = matches{}
			}
			return
		}
	}
}

// An Asking is the second scan that a State needs, for its filter, its tab or its search.
type Asking struct {
	ID     string // of the question; another one ends the scan of this one
	Filter string // what scanners get, or
	Probe  string // the id of the Probe, or
	Search *search.Options
	Tasks  []AskTask
}

// An AskTask is a range that has not been asked yet. From and To count plain bytes.
type AskTask struct {
	Task
	From, To int64
}

// QuestionID is the number of a question as a text, which scripts keep exact.
func QuestionID(q *Question) string { return strconv.FormatUint(q.number, 16) }

// askPiece is the length of the ranges of a second scan.
const askPiece = 32 << 20

// Asking tells what the host must scan a second time for the filter and the tab of a State, nil if nothing.
func (d *Desk) Asking(s State) *Asking {
	if d.Empty() {
		return nil
	}
	c := d.choose(s)
	c.tally.count(c.table, c.rules)
	s.Tab = d.tab(s)
	a := &Asking{Tasks: []AskTask{}}
	if found := d.filter(c, s); found.look != nil && found.pending {
		q := found.look.Question
		a.ID, a.Filter = QuestionID(q), q.filter.String()
		found.look.missing(c, func(i int, r analysis.Range) { d.cut(a, c.sources[i], r) })
	}
	if q, about := d.tabQuestion(c, s); q != nil && len(a.Tasks) == 0 {
		for _, c := range about {
			look := c.ask(q).lookup(q, c.sources)
			a.ID, a.Filter = QuestionID(look.Question), look.filter.String()
			look.missing(c, func(i int, r analysis.Range) { d.cut(a, c.sources[i], r) })
		}
	}
	if p := d.wanted(s); p != nil && len(a.Tasks) == 0 {
		a.ID, a.Filter, a.Probe = strconv.FormatUint(p.number, 16), "", p.ID
		d.unprobed(c, p, func(source int, r analysis.Range) { d.cut(a, source, r) })
	}
	if by := d.searching(c, s); by != nil && len(a.Tasks) == 0 {
		a.ID, a.Filter, a.Search = by.id(), "", &by.options
		by.missing(c, func(source int, r analysis.Range) { d.cut(a, source, r) })
	}
	if len(a.Tasks) == 0 {
		return nil
	}
	return a
}

// tabQuestion asks for a value of rows that a tab joins or groups them by, and tells which rows; nil for none.
func (d *Desk) tabQuestion(c *selection, s State) (q *Question, about []*selection) {
	switch {
	case s.Rollout != "":
	case s.Tab == "scores":
		q, _ = groupPath(s)
		about = []*selection{c}
	case s.Tab == "compare":
		if q, _ = joinPath(s); q != nil {
			base, cand := d.pairOf(s)
			about = []*selection{d.sideOf(s, base), d.sideOf(s, cand)}
		}
	}
	return q, about
}

// cut adds a range of a source, in pieces.
func (d *Desk) cut(a *Asking, source int, r analysis.Range) {
	file := d.sources[source]
	task := Task{Source: source, File: file, Size: d.files[file].Size, Packed: d.packed(file)}
	if task.Packed {
		a.Tasks = append(a.Tasks, AskTask{task, r.From, r.To})
		return
	}
	for from := r.From; from < r.To; from += askPiece {
		a.Tasks = append(a.Tasks, AskTask{task, from, min(from+askPiece, r.To)})
	}
}

package view

import (
	"hash/fnv"
	"sync"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/view/filter"
)

// A Question is what a filter must know of a row and its digest does not hold: the values at the paths that the
// filter names, and the outcomes for the lists that it goes through. A second scan asks it of every row.
//
// An answer holds those values, so that another filter on the same paths needs no other scan. A long text or list
// stays in its file; the answer then holds what the conditions of this filter make of it.
type Question struct {
	filter filter.Filter
	paths  []filter.Ref // and counts, and the truth of any and all
	whole  []bool       // of each path: it is compared with a field, so its values are kept whatever their size
	tests  []filter.Test
	number uint64
	looks  sync.Pool // of *filter.Look

	places   map[string]int // of paths, by name
	testings map[string]int // of tests, by text
}

// keptValue is the size up to which a value is kept, in bytes.
const keptValue = 256

// Ask gives the question behind a filter text, nil where the digests know everything.
func Ask(text string) (*Question, error) {
	f, err := filter.Parse(text, FilterFields())
	if err != nil {
		return nil, err
	}
	return questionOf(f), nil
}

func questionOf(f filter.Filter) *Question {
	paths, whole := f.Paths()
	if len(paths) == 0 {
		return nil
	}
	q := &Question{filter: f, paths: paths, whole: whole, tests: f.Tests(), places: make(map[string]int, len(paths)), testings: map[string]int{}}
	hash := fnv.New64a()
	for i, p := range q.paths {
		q.whole[i] = q.whole[i] || p.Path == nil // outcomes for lists are small
		hash.Write([]byte{byte(index(q.whole[i]))})
		hash.Write([]byte(p.Name + "\x00"))
		if _, there := q.places[p.Name]; !there {
			q.places[p.Name] = i
		}
	}
	for i, t := range q.tests {
		text := t.String()
		hash.Write([]byte(text + "\x00"))
		if _, there := q.testings[text]; !there {
			q.testings[text] = i
		}
	}
	q.number = max(hash.Sum64(), 1)
	return q
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Number tells questions apart; equal ones have the same. It is never 0.
func (q *Question) Number() uint64 { return q.number }

// The first byte of an answer.
const (
	answerWhole byte = iota
	answerShort      // of some values only the outcome of the tests is kept
)

// left stands for a value that is not kept. No stored value begins like it.
const left = 0xFF

// Append answers the question for a row, as a mapper of the second scan. A line that cannot be read has no values:
// its answer is empty. It may be called by several goroutines.
func (q *Question) Append(dst []byte, row *rollout.Row) []byte {
	if row.Problem != nil {
		return dst
	}
	look, _ := q.looks.Get().(*filter.Look)
	if look == nil {
		look = new(filter.Look)
	}
	look.At(row)
	defer func() {
		look.At(nil)
		q.looks.Put(look)
	}()
	head := len(dst)
	dst = append(dst, answerWhole)
	for i := range q.paths {
		at := len(dst)
		if dst = look.Inside(&q.paths[i]).Append(dst); len(dst)-at > keptValue && !q.whole[i] {
			dst = append(dst[:at], left)
			dst[head] = answerShort
		}
	}
	if dst[head] == answerWhole {
		return dst
	}
	bits := len(dst)
	dst = append(dst, make([]byte, (len(q.tests)+7)/8)...)
	for i, t := range q.tests {
		if t.Match(look) {
			dst[bits+i/8] |= 1 << (i % 8)
		}
	}
	return dst
}

// An answer is what is known of one row.
type answer struct {
	values []filter.Value
	bits   []byte // outcomes of the tests, nil where all values are there
}

func (q *Question) parse(b []byte) (a answer, ok bool) {
	if len(b) == 0 {
		return answer{}, true
	}
	short := b[0] == answerShort
	b = b[1:]
	a.values = make([]filter.Value, len(q.paths))
	for i := range a.values {
		if len(b) > 0 && b[0] == left {
			b = b[1:]
			continue
		}
		var err error
		if a.values[i], b, err = filter.ParseValue(b); err != nil {
			return answer{}, false
		}
	}
	if short {
		if len(b) != (len(q.tests)+7)/8 {
			return answer{}, false
		}
		a.bits = b
	}
	return a, true
}

// asked is a question with the answers so far.
type asked struct {
	*Question
	answers *analysis.Answers
	short   bool // some answer is
}

// add takes a part of the second scan in. One that is there already is none of the caller's problems: scans that
// were begun anew can overlap those before.
func (a *asked) add(p *analysis.Partial) {
	if a.answers.Add(p) == nil {
		p.Each(func(b []byte) { a.short = a.short || len(b) > 0 && b[0] == answerShort })
	}
}

// serves tells whether the answers are those to another question as well.
func (a *asked) serves(q *Question) bool {
	for i, p := range q.paths {
		k, there := a.places[p.Name]
		if !there || q.whole[i] && !a.whole[k] {
			return false
		}
	}
	if !a.short {
		return true
	}
	for _, t := range q.tests {
		if a.test(t) < 0 {
			return false
		}
	}
	return true
}

func (a *asked) test(t filter.Test) int {
	if i, there := a.testings[t.String()]; there {
		return i
	}
	return -1
}

// lookup finds the answers for one filter.
type lookup struct {
	*asked
	tests   map[filter.Test]int // of the filter: place among those of the question
	sources []int               // numbers of the sources in the answers, nil where they are the same
}

func (a *asked) lookup(q *Question, sources []int) *lookup {
	l := &lookup{a, map[filter.Test]int{}, sources}
	for _, t := range q.tests {
		l.tests[t] = a.test(t)
	}
	return l
}

func (l *lookup) source(i int) int {
	if l.sources == nil {
		return i
	}
	return l.sources[i]
}

// open gives a row its answer and tells whether it is there.
func (l *lookup) open(i *item) bool {
	b, ok := l.answers.Row(l.source(i.row.Source), i.row.Number)
	if !ok {
		return false
	}
	i.look = l
	i.answer, _ = l.parse(b)
	return true
}

// Inside gives a value inside the row as it is in the file, or the outcome for a list in it.
func (i *item) Inside(r *filter.Ref) filter.Value {
	if i.look == nil || i.answer.values == nil {
		return filter.Value{}
	}
	if n, there := i.look.places[r.Name]; there {
		return i.answer.values[n]
	}
	return filter.Value{}
}

// Answer tells how a condition turned out where the row was.
func (i *item) Answer(t filter.Test) (met, known bool) {
	if i.answer.bits == nil {
		return false, false
	}
	n, there := i.look.tests[t]
	if !there || n < 0 {
		return false, false
	}
	return i.answer.bits[n/8]>>(n%8)&1 == 1, true
}

// missing lists what of the rows that are there has no answer yet: by place in the selection.
func (l *lookup) missing(c *selection, f func(source int, r analysis.Range)) {
	for i := range c.table.Sources() {
		for _, r := range l.answers.Missing(l.source(i), c.table.Reached(i)) {
			f(i, r)
		}
	}
}

// percent is how far the second scan is, in bytes.
func (l *lookup) percent(c *selection) int {
	return hundredth(c.scanned(func(f func(int, analysis.Range)) { l.missing(c, f) }))
}

// unanswered lists what of the rows that are there has no answer of a second scan yet: by number of the source.
func (c *selection) unanswered(a *analysis.Answers, f func(source int, r analysis.Range)) {
	for i, source := range c.sources {
		for _, r := range a.Missing(source, c.table.Reached(i)) {
			f(source, r)
		}
	}
}

// scanned tells how many of the bytes that are there a second scan has been through; missing lists the others.
func (c *selection) scanned(missing func(f func(int, analysis.Range))) (done, total int64) {
	for i := range c.table.Sources() {
		total += c.table.Reached(i)
	}
	done = total
	missing(func(_ int, r analysis.Range) { done -= r.To - r.From })
	return done, total
}

// hundredth is a part of a whole in per cent; only the whole is 100.
func hundredth(done, total int64) int {
	if total == 0 {
		return 100
	}
	return int(done * 100 / total)
}

package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// details are the facts of the chosen token.
func (v *tokenView) details(p *TokensPart) {
	if v.at < 0 {
		p.Facts = append(p.Facts, FactGroup{Title: "Token", Note: "none is chosen", Facts: []Fact{}})
		return
	}
	k := v.at - v.prompt()
	g := FactGroup{Title: "Token " + Group(v.at+1), Note: "of " + Group(v.total()), Facts: []Fact{}}
	add := func(label string, t Text) { g.Facts = append(g.Facts, Fact{Label: label, Value: t}) }
	missing := func(reason string) Text { return Text{Text: Dash, Muted: true, Title: reason} }
	if text, known := v.t.Text(k); known {
		add("text", Text{Text: text[:prefix(text, 200)], Mono: true})
	} else {
		add("text", missing("the row holds the id of this token and not its text"))
	}
	if id := v.id(v.at); id != "" {
		add("token id", Text{Text: id, Mono: true})
	} else {
		add("token id", missing("the row holds no id for this token"))
	}
	number := func(label string, list []float64) float64 {
		if k < 0 || list == nil {
			return math.NaN()
		}
		if f := list[k]; !math.IsNaN(f) {
			add(label, Text{Text: minus(precise(f)), Title: strconv.FormatFloat(f, 'g', -1, 64)})
			return f
		}
		add(label, missing("the list has no number here"))
		return math.NaN()
	}
	if k < 0 {
		add("part", Text{Text: "prompt"})
	}
	own := number("log probability", v.t.LogProbs)
	if !math.IsNaN(own) {
		add("probability", Text{Text: precise(math.Exp(own))})
	}
	label := "entropy"
	if v.t.Bounded {
		label = "entropy, at least"
	}
	number(label, v.t.Entropy)
	for n, list := range v.t.Others {
		if other := number(v.seq.Others[n].Name, list); !math.IsNaN(other) && !math.IsNaN(own) {
			add("difference", Text{Text: minus(precise(own - other)), Title: "log probability less " + v.seq.Others[n].Name})
		}
	}
	if v.t.Mask != nil && v.t.Mask[v.at] >= 0 {
		add(v.seq.MaskName, Text{Text: map[int8]string{0: "does not count", 1: "counts"}[v.t.Mask[v.at]]})
	}
	p.Facts = append(p.Facts, g)
	v.options(p, k)
}

// mostOptions is how many alternatives of a token are listed.
const mostOptions = 50

// options list the saved alternatives of the chosen token.
func (v *tokenView) options(p *TokensPart, k int) {
	if k < 0 || k >= len(v.t.Parts) {
		return
	}
	saved := v.t.Parts[k].Get("top_logprobs")
	if !saved.IsArray() || !saved.Truthy() {
		return
	}
	own, _ := v.t.Text(k)
	t := Table{ID: "alternatives", Caption: "saved alternatives", Height: 22, Rows: []Row{},
		Columns: []Column{{Key: "token", Title: "token", Mono: true, Grow: true}, {Key: "logprob", Title: "logprob", Right: true}, {Key: "p", Title: "p", Right: true, Bars: true}}}
	chosen := false
	e := saved.Elements()
	for n := 0; e.Next() && n < mostOptions; n++ {
		text := e.Value.Get("token")
		row := Row{ID: strconv.Itoa(n), Index: n, Cells: []Cell{{Text: Text{Text: text.Text()[:prefix(text.Text(), 100)], Mono: true}}, {Text: Text{Text: Dash, Muted: true, Title: "no number"}}, {Text: Text{Text: Dash, Muted: true, Title: "no number"}}}}
		if text.IsString() && text.Text() == own {
			row.Selected, chosen = true, true
		}
		if f, ok := e.Value.Get("logprob").Float(); ok {
			row.Cells[1] = Cell{Text: Text{Text: minus(precise(f))}, Exact: strconv.FormatFloat(f, 'g', -1, 64)}
			row.Cells[2] = Cell{Text: Text{Text: precise(math.Exp(f))}, Bar: math.Exp(f)}
		}
		t.Rows = append(t.Rows, row)
	}
	t.Note = "top " + strconv.Itoa(len(t.Rows))
	if !chosen {
		t.Note += ", the chosen one is not among them"
	}
	t.Total = len(t.Rows)
	p.Options = &t
}

// The histogram's bins, and how many of them.
const (
	probBin      = 0.5
	mostProbBins = 16
)

// histogram counts the log probabilities of the sequence.
func (v *tokenView) histogram(p *TokensPart) {
	var list []float64
	counts, first := [mostProbBins]int{}, [mostProbBins]int{}
	under2, under4 := 0, 0
	for i, f := range v.t.LogProbs {
		if math.IsNaN(f) {
			continue
		}
		list = append(list, f)
		bin := int(min(max(-f/probBin, 0), mostProbBins-1))
		if counts[bin]++; counts[bin] == 1 {
			first[bin] = i
		}
		if f < -2 {
			under2++
		}
		if f < -4 {
			under4++
		}
	}
	if len(list) == 0 {
		return
	}
	last := mostProbBins - 1
	for last > 0 && counts[last] == 0 {
		last--
	}
	c := Chart{ID: "logprobs", Title: "log probabilities", Caption: "bins of 0.5", Kind: "bars", Bins: []Bin{}}
	for i := 0; i <= last; i++ {
		name := fmt.Sprintf("%s to %s", minus(trimZeros(-probBin*float64(i))), minus(trimZeros(-probBin*float64(i+1))))
		if i == mostProbBins-1 {
			name = "under " + minus(trimZeros(-probBin*float64(i)))
		}
		b := Bin{Label: minus(trimZeros(-probBin * float64(i))), Name: name, Value: float64(counts[i]), Text: Group(counts[i])}
		if counts[i] > 0 {
			b.Href = v.href(v.prompt() + first[i])
		}
		c.Max = max(c.Max, b.Value)
		c.Bins = append(c.Bins, b)
	}
	p.Chart = &c
	slices.Sort(list)
	sum := 0.0
	for _, f := range list {
		sum += f
	}
	of := " of " + Group(len(list))
	value := func(f float64) Text { return Text{Text: minus(precise(f)), Title: strconv.FormatFloat(f, 'g', -1, 64)} }
	median := list[len(list)/2]
	if len(list)%2 == 0 {
		median = (median + list[len(list)/2-1]) / 2
	}
	p.Facts = append(p.Facts, FactGroup{Title: "Log probabilities", Note: Group(len(list)) + " of " + count(v.t.Len, "token", "tokens"), Facts: []Fact{
		{Label: "mean", Value: value(sum / float64(len(list)))}, {Label: "median", Value: value(median)},
		{Label: "under −2", Value: Text{Text: Group(under2) + of}}, {Label: "under −4", Value: Text{Text: Group(under4) + of}},
	}})
}

// sources tell for how many turns there are tokens at all.
func (v *tokenView) sources(p *TokensPart, src *tokenSource) {
	turns, ids, probs, masks := map[int]bool{}, 0, 0, 0
	for i := range src.list {
		s := &src.list[i]
		turns[s.Turn] = true
		if s.IDs.Truthy() {
			ids++
		}
		if hasProbs(*s) {
			probs++
		}
		if s.Mask.Truthy() {
			masks++
		}
	}
	delete(turns, -1)
	n := len(src.list)
	of := " of " + count(n, "sequence", "sequences")
	g := FactGroup{Title: "Source", Facts: []Fact{
		{Label: "token ids", Value: Text{Text: Group(ids) + of}}, {Label: "log probabilities", Value: Text{Text: Group(probs) + of}}, {Label: "masks", Value: Text{Text: Group(masks) + of}},
	}}
	if all := len(v.talk.Turns); all > 0 {
		g.Facts = append(g.Facts, Fact{Label: "turns with tokens", Value: Text{Text: Group(len(turns)) + " of " + Group(all)}})
	}
	p.Facts = append(p.Facts, g)
}

var sequenceColumns = []Column{
	{Key: "sequence", Title: "sequence", Right: true}, {Key: "turn", Title: "turn", Right: true}, {Key: "of", Title: "of"}, {Key: "prompt", Title: "prompt", Unit: "tok", Right: true},
	{Key: "completion", Title: "completion", Unit: "tok", Right: true}, {Key: "has", Title: "holds", Grow: true},
}

// mostSequences is how many sequences are listed.
const mostSequences = 200

// sequenceTable lists the sequences of the row, those around the open one where there are very many.
func sequenceTable(s State, src *tokenSource, talk *talk, open int) Table {
	t := Table{ID: "sequences", Caption: "Token sequences of this rollout", Columns: sequenceColumns, Total: len(src.list), Height: 22, Rows: []Row{}}
	from := max(0, min(open-mostSequences/2, len(src.list)-mostSequences))
	for i := from; i < min(from+mostSequences, len(src.list)); i++ {
		q := &src.list[i]
		at := spot{'q', i}.String()
		prompt, completion := q.Lengths()
		turn := Cell{Text: Text{Text: Dash, Muted: true, Title: "no turn has these tokens"}}
		if q.Turn >= 0 {
			turn = Cell{Text: Text{Text: strconv.Itoa(turnNumber(q.Turn)), Href: toTurn(s, q.Turn)}}
		}
		holds := ""
		add := func(is bool, word string) {
			if is {
				if holds != "" {
					holds += ", "
				}
				holds += word
			}
		}
		add(q.IDs.Truthy(), "ids")
		add(q.LogProbs.Truthy(), "log probabilities")
		add(len(q.Parts) > 0, "texts with alternatives")
		add(q.Mask.Truthy(), q.MaskName)
		for _, o := range q.Others {
			add(o.Values.Truthy(), o.Name)
		}
		t.Rows = append(t.Rows, Row{ID: at, Index: i, Selected: i == open, Href: s.With(func(s *State) { s.Part, s.At, s.Token, s.Turn = "tokens", at, 0, 0 }).Href(), Cells: []Cell{
			{Text: Text{Text: Group(i + 1)}}, turn, {Text: Text{Text: q.Where}}, {Text: Text{Text: Group(prompt)}}, {Text: Text{Text: Group(completion)}}, {Text: Text{Text: holds}},
		}})
	}
	if len(t.Rows) < t.Total {
		t.Note = Group(len(t.Rows)) + " of " + Group(t.Total) + ", around the open one"
	}
	return t
}

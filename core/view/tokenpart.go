package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/transcript"
)

// A TokensPart is the part of the rollout page that shows tokens: of one sequence, a window of them, with how likely
// each was.
type TokensPart struct {
	Title    string // "Turn 7 of 11 · message"
	Note     string
	Table    Table    // of the sequences
	Problems []string // what is wrong with the lists
	Links    []Link   // to places: the least likely, the next and previous unlikely one
	By       []Choice // what colours the tokens
	Legend   []TokenStep
	Plots    []TokenPlot
	Bands    []TokenBand
	BandNote string
	Tokens   []TokenView
	Before   Link // the window in front of this one
	After    Link
	Window   string // "tokens 1 to 500 of 894"
	Facts    []FactGroup
	Options  *Table // saved alternatives of the chosen token
	Chart    *Chart
}

// A TokenStep is one entry of the legend.
type TokenStep struct {
	Step int
	Text string
}

// A TokenView is a token of the strip.
type TokenView struct {
	No      int // from 1, prompt and completion together
	Text    string
	Known   bool // Text is its text; else it is its id
	Step    int  // 0 without a value, 1 the most usual, 5 the least
	Prompt  bool
	Masked  bool // it does not count
	Title   string
	Current bool
}

// A TokenPlot is a value by position: its lowest, or highest, in each of at most some hundred columns.
type TokenPlot struct {
	Title   string
	Top     string // labels of the scale
	Bottom  string
	Down    bool // it hangs from above
	Columns []TokenColumn
	At      float64 // share of the chosen token, −1 for none
}

// A TokenColumn is a column of a plot.
type TokenColumn struct {
	From, Width, Height float64
	Step                int
	Token               int // that it leads to
	Title               string
}

// A TokenBand is a stretch of tokens of one kind.
type TokenBand struct {
	Row         int // 0 prompt and completion, 1 the mask
	From, Width float64
	Kind        string // prompt, completion, counts, ignored
	Title       string
}

const (
	tokenWindow = 500 // tokens of a page
	plotColumns = 360
	mostBands   = 400
	unlikely    = -2.0
)

// The upper ends of the steps of log probabilities, and the lower ends of those of entropies.
var (
	probSteps    = [...]float64{-0.3, -1, -2, -4}
	entropySteps = [...]float64{0.5, 1, 1.5, 2.5}
)

// tokenSource is what is known of the tokens of the open row.
type tokenSource struct {
	list []transcript.Sequence
	open int // which of them is opened
	read *transcript.Tokens
}

func (s *tokenSource) any() bool { return len(s.list) > 0 }

// tokens finds the sequences of the open row, once.
func (d *Desk) tokens() *tokenSource {
	if d.opened.tokens == nil {
		d.opened.tokens = &tokenSource{list: d.opened.talk.Sequences(d.opened.row), open: -1}
	}
	return d.opened.tokens
}

// A tokenView looks at one sequence for one State.
type tokenView struct {
	s     State
	n     int // of the sequence
	seq   *transcript.Sequence
	t     *transcript.Tokens
	talk  *talk
	at    int // chosen token, from 0 over prompt and completion; −1 for none
	steps []float64
	value []float64 // what colours the completion
	down  bool      // low values are the unusual ones
}

// tokenPart is the tokens part. Without a sequence in the State the first one with log probabilities is open.
func (d *Desk) tokenPart(s State, t *talk) *TokensPart {
	src := d.tokens()
	if !src.any() {
		return &TokensPart{Title: "Tokens", Note: "The row holds no token ids, log probabilities or masks.", Links: []Link{}, Facts: []FactGroup{}}
	}
	p, _, ok := spotOf(s.At)
	if !ok || p.kind != 'q' || p.n >= len(src.list) {
		p = spot{'q', max(slices.IndexFunc(src.list, hasProbs), 0)}
		s.At = p.String()
	}
	if src.open != p.n {
		src.open, src.read = p.n, src.list[p.n].Read()
	}
	v := &tokenView{s: s, n: p.n, seq: &src.list[p.n], t: src.read, talk: t, at: -1}
	if total := v.total(); s.Token > 0 && total > 0 {
		v.at = min(s.Token, total) - 1
	}
	v.value, v.down, v.steps = v.t.LogProbs, true, probSteps[:]
	if s.By == "entropy" && v.t.Entropy != nil || v.t.LogProbs == nil && v.t.Entropy != nil {
		v.value, v.down, v.steps = v.t.Entropy, false, entropySteps[:]
	}
	return v.part(src)
}

func hasProbs(s transcript.Sequence) bool { return s.LogProbs.Truthy() || len(s.Parts) > 0 }

func (v *tokenView) prompt() int { return len(v.t.Prompt) }
func (v *tokenView) total() int  { return len(v.t.Prompt) + v.t.Len }

// href is the State that stands at a token.
func (v *tokenView) href(token int) string {
	return v.s.With(func(s *State) { s.Part, s.Turn, s.Token = "tokens", 0, token+1 }).Href()
}

// step tells how unusual a value is, from 1 to 5; 0 for none.
func (v *tokenView) step(f float64) int {
	if math.IsNaN(f) {
		return 0
	}
	for i, end := range v.steps {
		if v.down && f > end || !v.down && f < end {
			return i + 1
		}
	}
	return len(v.steps) + 1
}

func (v *tokenView) part(src *tokenSource) *TokensPart {
	p := &TokensPart{Title: v.where(), Problems: v.t.Problems, Links: []Link{}, By: []Choice{}, Legend: []TokenStep{}, Plots: []TokenPlot{}, Bands: []TokenBand{},
		Tokens: []TokenView{}, Facts: []FactGroup{}, Table: sequenceTable(v.s, src, v.talk, v.n)}
	p.Note = Group(v.t.Len) + " completion tokens"
	if n := v.prompt(); n > 0 {
		p.Note = Group(n) + " prompt + " + p.Note
	}
	v.choices(p)
	v.jumps(p)
	for _, one := range [...]struct {
		title  string
		values []float64
		down   bool
	}{{"log probability by position", v.t.LogProbs, true}, {v.entropyTitle(), v.t.Entropy, false}} {
		if plot, ok := v.plot(one.title, one.values, one.down); ok {
			p.Plots = append(p.Plots, plot)
		}
	}
	v.bands(p)
	v.strip(p)
	v.details(p)
	v.histogram(p)
	v.sources(p, src)
	return p
}

func (v *tokenView) where() string {
	text := v.seq.Where
	if v.seq.Turn >= 0 {
		return v.talk.title(v.seq.Turn) + " · " + text
	}
	return text
}

func (v *tokenView) entropyTitle() string {
	if v.t.Bounded {
		return "entropy by position, nats, at least: of the saved alternatives and the rest as one"
	}
	return "entropy by position"
}

// choices are what the strip can be coloured by, and its legend.
func (v *tokenView) choices(p *TokensPart) {
	add := func(by, title string, values []float64, down bool) {
		if values != nil {
			p.By = append(p.By, Choice{Value: by, Title: title, On: down == v.down, Href: v.s.With(func(s *State) { s.By = by }).Href()})
		}
	}
	add("", "log probability", v.t.LogProbs, true)
	add("entropy", "entropy", v.t.Entropy, false)
	if v.value == nil {
		return
	}
	number := func(f float64) string { return minus(trimZeros(f)) }
	for i := range len(v.steps) + 1 {
		text := ""
		switch {
		case i == 0:
			text = "0 to " + number(v.steps[0])
		case i < len(v.steps):
			text = number(v.steps[i-1]) + " to " + number(v.steps[i])
		case v.down:
			text = "under " + number(v.steps[i-1])
		default:
			text = "from " + number(v.steps[i-1])
		}
		p.Legend = append(p.Legend, TokenStep{i + 1, text})
	}
}

// jumps lead to the least likely token and to the unlikely ones around the chosen one.
func (v *tokenView) jumps(p *TokensPart) {
	lowest := -1
	for i, f := range v.t.LogProbs {
		if !math.IsNaN(f) && (lowest < 0 || f < v.t.LogProbs[lowest]) {
			lowest = i
		}
	}
	if lowest < 0 {
		return
	}
	p.Links = append(p.Links, Link{Text: "least likely", Href: v.href(v.prompt() + lowest)})
	from := v.at - v.prompt()
	for i := min(from, v.t.Len) - 1; i >= 0; i-- {
		if v.t.LogProbs[i] < unlikely {
			p.Links = append(p.Links, Link{Text: "previous under −2", Href: v.href(v.prompt() + i)})
			break
		}
	}
	for i := max(from+1, 0); i < v.t.Len; i++ {
		if v.t.LogProbs[i] < unlikely {
			p.Links = append(p.Links, Link{Text: "next under −2", Href: v.href(v.prompt() + i)})
			break
		}
	}
}

// plot draws values by position in a bounded number of columns; each shows its most unusual value.
func (v *tokenView) plot(title string, values []float64, down bool) (TokenPlot, bool) {
	plot := TokenPlot{Title: title, Down: down, Columns: []TokenColumn{}, At: -1}
	far := 0.0
	for _, f := range values {
		if !math.IsNaN(f) {
			far = max(far, math.Abs(f))
		}
	}
	if far == 0 || len(values) == 0 {
		return plot, false
	}
	far = min(far, 1e6)
	n := len(values)
	columns := min(n, plotColumns)
	for k := range columns {
		from, to := k*n/columns, (k+1)*n/columns
		best := -1
		for i := from; i < to; i++ {
			if !math.IsNaN(values[i]) && (best < 0 || math.Abs(values[i]) > math.Abs(values[best])) {
				best = i
			}
		}
		if best < 0 {
			continue
		}
		step := 0
		if v.down == down {
			step = v.step(values[best])
		}
		plot.Columns = append(plot.Columns, TokenColumn{
			From: float64(from) / float64(n), Width: float64(to-from) / float64(n), Height: min(math.Abs(values[best])/far, 1), Step: step,
			Token: v.prompt() + best + 1, Title: fmt.Sprintf("token %s: %s", Group(v.prompt()+best+1), minus(precise(values[best]))),
		})
	}
	plot.Top, plot.Bottom = minus(precise(far)), "0"
	if down {
		plot.Top, plot.Bottom = "0", minus(precise(-far))
	}
	if at := v.at - v.prompt(); v.at >= 0 && at >= 0 {
		plot.At = (float64(at) + 0.5) / float64(n)
	}
	return plot, true
}

// bands show what is prompt, what is completion, and what counts for the loss.
func (v *tokenView) bands(p *TokensPart) {
	total := float64(v.total())
	if total == 0 {
		return
	}
	band := func(row, from, to int, kind, title string) {
		if to > from {
			p.Bands = append(p.Bands, TokenBand{row, float64(from) / total, float64(to-from) / total, kind, title})
		}
	}
	if v.prompt() > 0 {
		band(0, 0, v.prompt(), "prompt", "prompt, "+Group(v.prompt())+" tokens")
		band(0, v.prompt(), v.total(), "completion", "completion, "+Group(v.t.Len)+" tokens")
	}
	if v.t.Mask == nil {
		return
	}
	counts, said := 0, 0
	words := map[int8]string{1: "counts", 0: "ignored"}
	for i := 0; i < len(v.t.Mask); {
		to := i
		for to < len(v.t.Mask) && v.t.Mask[to] == v.t.Mask[i] {
			to++
		}
		bit := v.t.Mask[i]
		if bit >= 0 {
			said += to - i
			if len(p.Bands) < mostBands {
				band(1, i, to, words[bit], fmt.Sprintf("%s: %s, tokens %s to %s", v.seq.MaskName, words[bit], Group(i+1), Group(to)))
			}
			if bit == 1 {
				counts += to - i
			}
		}
		i = to
	}
	p.BandNote = fmt.Sprintf("%s: %s of %s tokens count", v.seq.MaskName, Group(counts), Group(said))
	if len(p.Bands) >= mostBands {
		p.BandNote += "; not all stretches are drawn"
	}
}

// strip writes a window of tokens, around the chosen one or from the first of the completion.
func (v *tokenView) strip(p *TokensPart) {
	total := v.total()
	at := v.at
	if at < 0 {
		at = min(v.prompt(), max(total-1, 0))
	}
	from := at / tokenWindow * tokenWindow
	to := min(from+tokenWindow, total)
	for i := from; i < to; i++ {
		p.Tokens = append(p.Tokens, v.token(i))
	}
	if total == 0 {
		return
	}
	p.Window = fmt.Sprintf("tokens %s to %s of %s", Group(from+1), Group(to), Group(total))
	if from > 0 {
		p.Before = Link{Text: Group(tokenWindow) + " before", Href: v.href(from - tokenWindow)}
	}
	if to < total {
		p.After = Link{Text: "next " + Group(min(tokenWindow, total-to)), Href: v.href(to)}
	}
}

func (v *tokenView) token(i int) TokenView {
	k := i - v.prompt()
	t := TokenView{No: i + 1, Prompt: k < 0, Current: i == v.at, Masked: v.t.Mask != nil && v.t.Mask[i] == 0}
	t.Text, t.Known = v.t.Text(k)
	id := v.id(i)
	if !t.Known {
		t.Text = orWord(id, "?")
	}
	if len(t.Text) > 400 {
		t.Text = t.Text[:prefix(t.Text, 100)] + "…"
	}
	t.Title = "token " + Group(i+1)
	if t.Known && id != "" {
		t.Title += ", id " + id
	}
	if k >= 0 {
		if v.value != nil {
			t.Step = v.step(v.value[k])
		}
		if v.t.LogProbs != nil && !math.IsNaN(v.t.LogProbs[k]) {
			t.Title += ", log probability " + minus(precise(v.t.LogProbs[k]))
		}
		if v.t.Entropy != nil && !math.IsNaN(v.t.Entropy[k]) {
			t.Title += ", entropy " + precise(v.t.Entropy[k])
		}
	} else {
		t.Title += ", prompt"
	}
	if t.Masked {
		t.Title += ", does not count"
	}
	return t
}

// id is the id of a token as written, "" where there is none.
func (v *tokenView) id(i int) string {
	list, k := v.t.Prompt, i
	if i >= v.prompt() {
		list, k = v.t.IDs, i-v.prompt()
	}
	if k >= len(list) {
		return ""
	}
	return short(list[k])
}

// short is a value as written, cut where it is no number.
func short(v jsonscan.Value) string {
	raw := v.Raw()
	if len(raw) > 40 {
		return string(raw[:boundary(raw, 40)]) + "…"
	}
	return string(raw)
}

// precise writes a number with four digits behind the point, very small ones with an exponent.
func precise(f float64) string {
	if f != 0 && math.Abs(f) < 0.001 {
		return strconv.FormatFloat(f, 'e', 2, 64)
	}
	return strconv.FormatFloat(f, 'f', 4, 64)
}

// minus writes the sign of a number as it is printed.
func minus(text string) string {
	if text == "-0" {
		return "0"
	}
	if len(text) > 1 && text[0] == '-' {
		return "−" + text[1:]
	}
	return text
}

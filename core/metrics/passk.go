package metrics

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
)

// A RolloutScore is one rollout of a task as pass@k sees it.
type RolloutScore struct {
	Value    float64 // of the score named accuracy, which is the reward
	Answered bool    // the answer is there; false without an answer field
	Answer   string  // texts that agree exactly if the answers do
}

// PassK is the pass@k family over tasks (spec metrics §9). Keys of its metrics stand in the order of the reference.
type PassK struct {
	MaxK  int
	Names []string // of the scores, in order

	Curve   []PassPoint // of the score accuracy, k from 1
	Metrics []Metric
	// PerSample has, for every name that has any, 100 × the mean over tasks of one rollout position after the other.
	PerSample []Series
	// Spread are the metrics that stand behind PerSample.
	Spread  []Metric
	Highest [3]Highest
}

// A Series is a named list of values.
type Series struct {
	Name   string
	Values []float64
}

// Highest are the metrics of one family at its largest k.
type Highest struct {
	Pattern string
	Metrics []Metric
}

// A PassPoint is the pass@k family at one k. Values are percent.
type PassPoint struct {
	K        int
	Tasks    int     // that have at least k rollouts and so take part in Pass
	Pass     float64 // of no meaning without tasks
	SE       float64 // standard error of Pass over tasks; 0 for fewer than two
	Avg      float64 // mean of the first k rollouts, over all tasks that have any
	Majority float64
	Voted    bool // Majority was asked for
}

const (
	accuracy = "accuracy"
	noAnswer = "no_answer"
)

// scoreValues are the values of one score, task by task.
type scoreValues struct {
	name  string
	tasks [][]float64
}

// NewPassK computes the family from the scores of every task, each in the order of its rollouts. answers tells that
// an answer field was chosen.
func NewPassK(tasks [][]RolloutScore, answers bool) *PassK {
	p := &PassK{Names: []string{}, Curve: []PassPoint{}, Metrics: []Metric{}, PerSample: []Series{}, Spread: []Metric{}}
	p.Highest = [3]Highest{{Pattern: "pass@{k}"}, {Pattern: "pass@1[avg-of-{k}]"}, {Pattern: "majority@{k}"}}
	for _, t := range tasks {
		p.MaxK = max(p.MaxK, len(t))
	}
	if p.MaxK == 0 {
		return p
	}
	scores := []scoreValues{{name: accuracy}}
	if answers {
		scores = append(scores, scoreValues{name: noAnswer})
	}
	for i := range scores {
		s := &scores[i]
		p.Names = append(p.Names, s.name)
		s.tasks = make([][]float64, len(tasks))
		for k, t := range tasks {
			s.tasks[k] = make([]float64, len(t))
			for n, one := range t {
				switch {
				case s.name == accuracy:
					s.tasks[k][n] = one.Value
				case !one.Answered:
					s.tasks[k][n] = 1
				}
			}
		}
	}
	curves := make([][]PassPoint, len(scores))
	for i := range scores {
		curves[i] = curve(scores[i].tasks, p.MaxK)
		if answers {
			vote(curves[i], tasks, scores[i].tasks)
		}
	}
	p.Curve = curves[0]
	for k := 1; k <= p.MaxK; k++ {
		for i, s := range scores {
			c := &curves[i][k-1]
			p.add(0, k, s.name, c.Pass, c.Tasks > 0)
			p.add(1, k, s.name, c.Avg, true)
			p.add(2, k, s.name, c.Majority, answers)
		}
	}
	p.spread(scores)
	return p
}

// passKeys name the three families at one k.
func passKey(family, k int, name string) string {
	text := strconv.Itoa(k)
	switch family {
	case 0:
		return "pass@" + text + "/" + name
	case 1:
		return "pass@1[avg-of-" + text + "]/" + name
	}
	return "majority@" + text + "/" + name
}

func (p *PassK) add(family, k int, name string, x float64, there bool) {
	if !there || !Real(x).Finite() {
		return
	}
	m := Metric{passKey(family, k, name), Real(x)}
	p.Metrics = append(p.Metrics, m)
	h := &p.Highest[family]
	// Names come in order within a k, so a new k begins with the first of them or the first that is there.
	if len(h.Metrics) > 0 && !sameK(h.Metrics[0].Name, m.Name) {
		h.Metrics = h.Metrics[:0]
	}
	h.Metrics = append(h.Metrics, m)
}

// sameK tells whether two keys of one family have the same k.
func sameK(a, b string) bool {
	cut := func(s string) string {
		for i := range len(s) {
			if s[i] == '/' {
				return s[:i]
			}
		}
		return s
	}
	return cut(a) == cut(b)
}

// curve computes pass@k and avg@k for every k.
func curve(tasks [][]float64, maxK int) []PassPoint {
	points := make([]PassPoint, maxK)
	pass, squares, avg := make([]sum, maxK), make([]sum, maxK), newTailed(maxK)
	withAny := 0
	for _, values := range tasks {
		n := len(values)
		if n == 0 {
			continue
		}
		withAny++
		wrong, binary := 0, true
		for _, v := range values {
			switch v {
			case 0:
				wrong++
			case 1:
			default:
				binary = false
			}
		}
		miss, best := newChance(wrong, n), math.Inf(-1)
		var first sum
		for k := 1; k <= n; k++ {
			first.add(values[k-1])
			best = max(best, values[k-1])
			x := best
			if none := miss.next(); binary {
				x = 1 - none
			}
			points[k-1].Tasks++
			pass[k-1].add(x)
			squares[k-1].add(x * x)
			avg.add(k, n, first.value()/float64(k))
		}
	}
	means := avg.values()
	for i := range points {
		c := &points[i]
		c.K = i + 1
		if n := float64(c.Tasks); n > 0 {
			total := pass[i].value()
			c.Pass = 100 * total / n
			if c.Tasks > 1 {
				c.SE = 100 * math.Sqrt(max(0, (squares[i].value()-total*total/n)/(n-1))/n)
			}
		}
		c.Avg = 100 * means[i] / float64(withAny)
	}
	return points
}

// A chance is the probability that the first k of n drawn rollouts are all among the wrong ones, for growing k. While
// the numbers of ways are exact doubles it is one division; later one draw is multiplied to the other.
type chance struct {
	wrong, n, k int
	bad, all    float64 // ways to choose k
	p           float64
}

func newChance(wrong, n int) chance { return chance{wrong: wrong, n: n, bad: 1, all: 1, p: 1} }

func (c *chance) next() float64 {
	c.k++
	left, total := float64(max(c.wrong-c.k+1, 0)), float64(c.n-c.k+1)
	if bad, all := c.bad*left, c.all*total; all < 1<<53 {
		// The product of neighbours and a binomial coefficient can be divided without a rest.
		c.bad, c.all = bad/float64(c.k), all/float64(c.k)
		c.p = c.bad / c.all
	} else {
		c.all = math.Inf(1)
		c.p *= left / total
	}
	return c.p
}

// A tailed adds what tasks give for every k. A task of n rollouts gives the same for every k above n as for n, which
// is added once, so that a single task of many rollouts does not make all others as long.
type tailed struct{ own, tail []sum }

func newTailed(maxK int) tailed { return tailed{make([]sum, maxK), make([]sum, maxK+1)} }

// directly is the largest k up to which every k is added to by itself, in the order of the tasks.
const directly = 64

func (t tailed) add(k, n int, x float64) {
	t.own[k-1].add(x)
	switch {
	case k < n:
	case len(t.own) <= directly:
		for i := n; i < len(t.own); i++ {
			t.own[i].add(x)
		}
	default:
		t.tail[n].add(x)
	}
}

func (t tailed) values() []float64 {
	list := make([]float64, len(t.own))
	var settled sum
	for i := range t.own {
		settled.add(t.tail[i].value())
		total := t.own[i]
		total.add(settled.value())
		list[i] = total.value()
	}
	return list
}

// vote computes majority@k of one score for every k: among the first k rollouts with an answer, pairs of answer and
// score are counted, and the mean score of the most frequent pairs counts.
func vote(points []PassPoint, tasks [][]RolloutScore, values [][]float64) {
	type pair struct {
		answer string
		score  float64
	}
	totals := newTailed(len(points))
	for t, scores := range tasks {
		counts := map[pair]int{}
		most, tied := 0, 0
		var won sum
		for k := range scores {
			if scores[k].Answered {
				p := pair{scores[k].Answer, values[t][k]}
				counts[p]++
				switch n := counts[p]; {
				case n > most:
					most, tied, won = n, 1, sum{}
					won.add(p.score)
				case n == most:
					tied++
					won.add(p.score)
				}
			}
			x := 0.0
			if tied > 0 {
				x = won.value() / float64(tied)
			}
			totals.add(k+1, len(scores), x)
		}
	}
	for k, x := range totals.values() {
		points[k].Voted = true
		points[k].Majority = 100 * x / float64(len(tasks))
	}
}

// spread computes what stands behind the families: the means of rollout positions, their spread, and the spread
// within tasks.
func (p *PassK) spread(scores []scoreValues) {
	var runs []([]float64)
	for _, s := range scores {
		var list []float64
		for at := range p.MaxK {
			var total sum
			n := 0
			for _, values := range s.tasks {
				if at < len(values) {
					total.add(values[at])
					n++
				}
			}
			if n > 0 {
				list = append(list, 100*total.value()/float64(n))
			}
		}
		runs = append(runs, list)
		p.PerSample = append(p.PerSample, Series{s.name, list})
	}
	deviations := make([][]float64, len(scores))
	for i := range scores {
		deviations[i] = prefixDeviations(runs[i])
	}
	for k := 2; k <= p.MaxK; k++ {
		for i, s := range scores {
			m := min(k, len(runs[i]))
			if m < 2 {
				continue
			}
			std, key := deviations[i][m-1], passKey(1, k, s.name)
			p.spreadOf(key+"/std_dev_across_runs", std)
			p.spreadOf(key+"/std_err_across_runs", std/math.Sqrt(float64(m)))
		}
	}
	within := make([][]float64, len(scores))
	counts := make([]int, len(scores))
	for i, s := range scores {
		totals := newTailed(p.MaxK)
		for _, values := range s.tasks {
			if len(values) < 2 {
				continue
			}
			counts[i]++
			for k, d := range prefixDeviations(values) {
				totals.add(k+1, len(values), d)
			}
		}
		within[i] = totals.values()
	}
	for k := 2; k <= p.MaxK; k++ {
		for i, s := range scores {
			if counts[i] > 0 {
				p.spreadOf(passKey(1, k, s.name)+"/avg_sample_std_dev", within[i][k-1]/float64(counts[i]))
			}
		}
	}
}

func (p *PassK) spreadOf(key string, x float64) {
	if Real(x).Finite() {
		p.Spread = append(p.Spread, Metric{key, Real(x)})
	}
}

// carefully is how many values are looked at twice for a deviation. Beyond, one pass has to do, since every prefix
// of a list has one.
const carefully = 128

// prefixDeviations gives the sample standard deviation of every prefix of a list; that of one value is 0.
func prefixDeviations(values []float64) []float64 {
	list := make([]float64, len(values))
	var running, squares float64
	for i, x := range values {
		n := float64(i + 1)
		d := x - running
		running += d / n
		squares += d * (x - running)
		switch {
		case i == 0:
		case i < carefully:
			m := compensated(values[:i+1]) / n
			var s sum
			for _, y := range values[:i+1] {
				s.add((y - m) * (y - m))
			}
			list[i] = math.Sqrt(s.value() / (n - 1))
		default:
			list[i] = math.Sqrt(squares / (n - 1))
		}
	}
	return list
}

// PassK computes the family of the run. With answers the first of [Mapper.Fields] is the answer. A task's rollouts
// stand in the order of the file, and rollouts of one identity count each. Masked rows do not take part. Strictly, a
// row without a numeric reward is refused, and so is an answer that is an object or an array; the lenient reading
// leaves such rows out.
func (r *Run) PassK(answers bool) (*PassK, error) {
	tasks, err := r.scores(answers)
	if err != nil {
		return nil, err
	}
	list := make([][]RolloutScore, len(tasks))
	for i := range tasks {
		list[i] = tasks[i].scores
	}
	return NewPassK(list, answers), nil
}

type taskScores struct {
	task   rollout.Key
	scores []RolloutScore
}

func (r *Run) scores(answers bool) ([]taskScores, error) {
	rows := r.all()
	counted := rows[:0]
	for _, row := range rows {
		if !r.Masked(int(row)) {
			counted = append(counted, row)
		}
	}
	rows, err := r.sorted(counted, false)
	if err != nil {
		return nil, err
	}
	var tasks []taskScores
	for i, row := range rows {
		if i == 0 || r.task[rows[i-1]] != r.task[row] {
			tasks = append(tasks, taskScores{task: r.Task(int(row))})
		}
		t := &tasks[len(tasks)-1]
		s, why := r.score(int(row), answers)
		if why != "" {
			if !r.lenient {
				return nil, fmt.Errorf("%s: %s: %w", r.Where(int(row)), why, ErrRefused)
			}
			continue
		}
		t.scores = append(t.scores, s)
	}
	return slices.DeleteFunc(tasks, func(t taskScores) bool { return len(t.scores) == 0 }), nil
}

// score gives a row's score, or why it has none.
func (r *Run) score(row int, answers bool) (s RolloutScore, why string) {
	var ok bool
	if s.Value, ok = r.Reward(row); !ok {
		if r.kinds[row] == cellAbsent {
			return s, "reward is missing"
		}
		return s, "reward is not a number"
	}
	if answers {
		text, kind := r.Field(row, 0)
		switch kind {
		case jsonscan.Absent, jsonscan.Null:
		case jsonscan.Array, jsonscan.Object:
			return s, "the answer is an " + kind.String() + ", and answers must be comparable"
		case jsonscan.String:
			s.Answered, s.Answer = true, "t"+text
		default:
			s.Answered, s.Answer = true, "n"+text
		}
	}
	return s, ""
}

// WriteJSON writes the document of the pass-at-k command.
func (p *PassK) WriteJSON(w io.Writer) error {
	j := jsonWriter{w: w, indent: true}
	j.open('{')
	j.count("max_k", p.MaxK)
	j.key("", "score_names")
	j.open('[')
	for _, name := range p.Names {
		j.text(name)
	}
	j.close(']')
	j.key("", "metrics")
	j.open('{')
	j.metrics(p.Metrics)
	if p.MaxK > 0 {
		j.key("", "per_sample_aggregate")
		j.open('{')
		for _, s := range p.PerSample {
			j.key("", s.Name)
			j.open('[')
			for _, x := range s.Values {
				j.number(Real(x))
			}
			j.close(']')
		}
		j.close('}')
	}
	j.metrics(p.Spread)
	j.close('}')
	j.key("", "highest_k")
	j.open('{')
	for _, h := range p.Highest {
		j.key("", h.Pattern)
		j.open('{')
		j.metrics(h.Metrics)
		j.close('}')
	}
	j.close('}')
	j.close('}')
	j.flush()
	return j.err
}

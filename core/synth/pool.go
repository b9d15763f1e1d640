package synth

import (
	"strconv"
	"strings"
)

// pool holds ready JSON texts from which rows are put together; a text is picked
// by index and never built twice. That is what makes a run of gigabytes cheap.
type pool struct {
	prose     []string // one to three sentences
	questions []string
	outputs   []string // listings, up to a few kilobytes
	arguments []argument
	spans     []span
	system    string
}

// argument is a tool's arguments as an object and as the JSON string of it.
type argument struct{ object, text string }

// span is one generated passage as token ids: how many, the fields of a message
// that a trainer reads, each followed by a comma.
type span struct {
	tokens int
	fields string
}

var (
	onsets  = strings.Fields("b c d f g h j k l m n p r s t v w z br cl dr fl gr pl st tr")
	vowels  = strings.Fields("a e i o u ai ea io ou")
	codas   = []string{"", "", "n", "r", "s", "t", "l", "nd", "st", "ck"}
	foreign = strings.Fields("données größe значение данные 数据 结果 ολοκλήρωση データ 결과 नतीजा نتيجة 🙂 naïve Ångström")
)

const vocabulary = 151_936 // token ids below this number

func newPool(seed uint64, mix Mix) *pool {
	r := seeded(seed, 1<<40)
	words := make([]string, 0, 2000)
	for len(words) < cap(words)-len(foreign)*4 {
		var word strings.Builder
		for range r.between(1, 3) {
			word.WriteString(pick(&r, onsets))
			word.WriteString(pick(&r, vowels))
			word.WriteString(pick(&r, codas))
		}
		words = append(words, word.String())
	}
	for len(words)+len(foreign) <= cap(words) {
		words = append(words, foreign...)
	}

	w := &writer{r: r, words: words}
	p := &pool{system: w.quoted(w.prose(15))}
	for range 600 {
		p.prose = append(p.prose, w.quoted(w.prose(w.r.between(1, 3))))
	}
	for range 400 {
		p.questions = append(p.questions, w.quoted(w.prose(w.r.between(1, 4))))
	}
	for range 500 {
		p.outputs = append(p.outputs, w.quoted(w.listing(pick(&w.r, []int{1, 2, 3, 5, 8, 20}))))
	}
	for range 400 {
		object := `{"path":` + w.quoted(w.word()+"/"+w.word()) + `,"limit":` + strconv.Itoa(w.r.between(1, 500)) + `,"pattern":` + w.quoted(w.sentence()) + `}`
		p.arguments = append(p.arguments, argument{object, quoted(object)})
	}
	least, most, count := 20, 160, 300
	if mix == TokenHeavy {
		least, most, count = 300, 1500, 80
	}
	for range count {
		p.spans = append(p.spans, w.span(w.r.between(least, most), mix != TextOnly))
	}
	return p
}

// writer makes up texts.
type writer struct {
	r     rng
	words []string
}

func (w *writer) word() string { return pick(&w.r, w.words) }

func (w *writer) sentence() string {
	var b strings.Builder
	for i := range w.r.between(6, 24) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.word())
	}
	b.WriteByte(".?!"[w.r.below(3)])
	return b.String()
}

func (w *writer) prose(sentences int) string {
	list := make([]string, sentences)
	for i := range list {
		list[i] = w.sentence()
	}
	return strings.Join(list, " ")
}

func (w *writer) listing(lines int) string {
	var b strings.Builder
	for range lines {
		b.WriteString(w.word() + "/" + w.word() + ".py:" + strconv.Itoa(w.r.between(1, 900)) + ":\t" + w.sentence() + " \"" + w.word() + "\" \\" + w.word() + "\n")
	}
	return b.String()
}

// quoted returns s as a JSON string, some characters written as escapes as
// other encoders do.
func (w *writer) quoted(s string) string {
	s = quoted(s)
	if w.r.below(8) == 0 {
		s = strings.ReplaceAll(s, "🙂", `\ud83d\ude42`)
		s = strings.ReplaceAll(s, "é", `\u00e9`)
	}
	return s
}

// span makes up n tokens; without ids only the number is kept.
func (w *writer) span(n int, ids bool) span {
	if !ids {
		return span{tokens: n}
	}
	list := func(dst []byte, n int) []byte {
		for i := range n {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendInt(dst, w.r.below(vocabulary))
		}
		return dst
	}
	b := list([]byte(`"prompt_token_ids":[`), n+w.r.below(n))
	b = list(append(b, `],"generation_token_ids":[`...), n)
	b = append(b, `],"generation_log_probs":[`...)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		// Most tokens are nearly certain, a few are surprises.
		u := w.r.unit()
		b = append(b, '-')
		b = appendDecimal(b, int64(u*u*u*u*8_000_000), 6)
	}
	b = append(b, `],`...)
	return span{tokens: n, fields: string(b)}
}

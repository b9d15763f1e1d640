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
	plain = strings.Fields(`the a of to and in is for with on by from this that when then after before under over between without
		account agent amber answer archive array autumn balance barley basket batch beacon bridge bucket buffer build cache canal canvas
		carbon cargo cedar channel chart check circle client clock cloud cluster column commit copper corner counter cursor delta desert
		device digit dolphin domain drawer driver east edge editor engine entry error event factor falcon feature fence field filter
		final first flag folder forest format forward frame garden gate glacier graph gravel group handle harbor header height history
		hollow horizon host index input island item jacket journal jungle kernel kettle label ladder lantern layer length lever limit
		line list loader lock logger lumber machine magnet mapping margin marker matrix meadow member memory method metric minute mirror
		module monitor morning mountain needle network node north number object offset option orchard order output packet page panel
		parser path pattern pepper pixel planet player pocket pointer policy portal power prefix process profile prompt queue quiet
		range record region report request reserve result return ribbon river rocket rolling router sample scale schema scope second
		server session shadow signal silver simple single sketch socket source spring stable station status storage stream string
		summer supply switch symbol system table target temple thread timber token total tower trace travel tunnel update valley value
		vector version violet volume wagon water weather window winter worker yellow zero zone`)
	foreign = strings.Fields("données größe значение данные 数据 结果 ολοκλήρωση データ 결과 नतीजा نتيجة 🙂 naïve Ångström")
)

const vocabulary = 151_936 // token ids below this number

func newPool(seed uint64, mix Mix) *pool {
	r := seeded(seed, 1<<40)
	words := make([]string, 0, 2000)
	for len(words) < cap(words)-len(foreign)*2 {
		word := pick(&r, plain)
		for r.below(4) == 0 {
			word += pick(&r, []string{"_", "-", ""}) + pick(&r, plain)
		}
		words = append(words, word)
	}
	words = append(append(words, foreign...), foreign...)

	w := &writer{r: r, words: words}
	p := &pool{system: w.quoted(w.prose(6))}
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
	least, most, count := 20, 140, 300
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

func (w *writer) phrase(least, most int) string {
	var b strings.Builder
	for i := range w.r.between(least, most) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.word())
	}
	return b.String()
}

func (w *writer) sentence() string { return w.phrase(6, 20) + string(".?!"[w.r.below(3)]) }

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
		b.WriteString(w.word() + "/" + w.word() + ".py:" + strconv.Itoa(w.r.between(1, 900)) + ":\t" + w.phrase(2, 8) + " \"" + w.word() + "\" \\" + w.word() + "\n")
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
	b := list([]byte(`"prompt_token_ids":[`), n+w.r.below(n/4))
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

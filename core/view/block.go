package view

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/jsonscan"
)

const (
	shortText   = 1500    // characters of a text that are shown folded
	longText    = 200_000 // characters that are shown when it is opened; the rest is in the raw row
	rawText     = 4000    // characters of an unknown item
	mostBlocks  = 2000    // blocks of one turn that are written
	mostItems   = 400     // items of one turn that are written
	mostOutputs = 20      // outputs of one call that are written
	imageBytes  = 8 << 20 // largest data URL that is shown as an image
)

// writer turns the values of a transcript into blocks.
type writer struct {
	t    *transcript
	s    State
	turn int
	next int // number of the next block of the turn
}

// blocks writes one turn.
func (t *transcript) blocks(i int, s State) Block {
	one := &t.turns[i]
	w := &writer{t: t, s: s, turn: turnNumber(i)}
	b := Block{Kind: "turn", Turn: w.turn, Title: t.title(i), Note: t.turnNote(i), Children: []Block{}}
	if len(one.findings) > 0 {
		b.Mark = MarkUnhealthy
	}
	for _, f := range one.findings {
		b.Children = append(b.Children, findingBlock(f))
	}
	for n, v := range one.input {
		if n == mostItems {
			b.Children = append(b.Children, Block{Kind: "note", Title: "+ " + count(len(one.input)-n, "item", "items"), Text: "of the input are in the raw row"})
			break
		}
		b.Children = append(b.Children, w.item(v, "input")...)
	}
	if r := one.at.Get("reasoning_content"); !r.IsNull() {
		b.Children = append(b.Children, w.reasoning(r)...)
	}
	answer := one.answer()
	for n, v := range answer {
		if n == mostItems {
			b.Children = append(b.Children, Block{Kind: "note", Title: "+ " + count(len(answer)-n, "item", "items"),
				Text: "of this turn are not shown here; the raw row has all of them"})
			break
		}
		if toolOutput(v) {
			if id, ok := callID(v); ok && t.asked[id] > 0 {
				continue // it stands beside its call
			}
			b.Children = append(b.Children, w.output(v, true))
			continue
		}
		b.Children = append(b.Children, w.item(v, "")...)
	}
	if one.at.Exists() && len(answer) == 0 {
		empty := one.at.Get("answer")
		text := "null"
		if empty.Exists() {
			text = string(empty.Raw())
		}
		b.Children = append(b.Children, Block{Kind: "note", Title: "answer", Text: text + " – nothing was said"})
	}
	return b
}

// rest writes the outputs that belong to no turn.
func (t *transcript) rest(s State) []Block {
	w := &writer{t: t, s: s}
	list := []Block{}
	for n, v := range t.orphans {
		if n == mostItems {
			list = append(list, Block{Kind: "note", Title: "+ " + count(len(t.orphans)-n, "output", "outputs"), Text: "without a call are in the raw row"})
			break
		}
		list = append(list, w.output(v, true))
	}
	return list
}

// findingID names a finding within its row: a check finds at most one thing at a place, and tells others
// apart by what it found.
func findingID(f check.Finding) string {
	id := f.Check
	for _, field := range f.Locator {
		id += "-" + field.Value.String()
	}
	if kind := f.Get("kind"); kind.Text != "" {
		id += "-" + kind.Text
	}
	return id
}

func findingBlock(f check.Finding) Block {
	return Block{ID: findingID(f), Kind: "finding",
		Title: f.Check, Text: check.Sentence(f), Mark: MarkUnhealthy}
}

// full tells whether a turn has as many blocks as a page can bear, and adds the note that says so.
func (w *writer) full(list *[]Block) bool {
	if w.next < mostBlocks {
		return false
	}
	if w.next == mostBlocks {
		w.next++
		*list = append(*list, Block{Kind: "note", Title: "more", Text: "of this turn is in the raw row"})
	}
	return true
}

// id names the next block.
func (w *writer) id() string {
	w.next++
	return fmt.Sprintf("b%d-%d", w.turn, w.next)
}

// text makes a block of a text, folded with its length when it is long.
func (w *writer) text(kind, title, text string, mono bool) Block {
	b := Block{ID: w.id(), Kind: kind, Title: title, Mono: mono, Text: text}
	if text == "" {
		b.Note = "empty"
		return b
	}
	limit := shortText
	open := slices.Contains(w.s.Open, b.ID)
	if open {
		limit = longText
	}
	if len(text) <= limit {
		return b
	}
	cut := prefix(text, limit)
	if rest := utf8.RuneCountInString(text[cut:]); rest > 0 {
		b.Text, b.Folded = text[:cut], rest
		if !open {
			b.Unfold = w.s.With(func(s *State) { s.Open = append(s.Open, b.ID) }).Href()
		} else {
			b.Note = "the rest is in the raw row"
		}
	}
	return b
}

// prefix gives the byte length of the first n characters, or of the text if it has fewer.
func prefix(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// item writes one item of a conversation in any of the dialects.
func (w *writer) item(v jsonscan.Value, from string) []Block {
	switch {
	case v.IsString():
		return []Block{w.text(kindOf(from, "message"), title(from, "message"), v.Text(), false)}
	case !v.IsObject():
		return []Block{w.unknown(v, "")}
	}
	kind := v.Get("type")
	name := kind.Text()
	role := v.Get("role").Text()
	switch {
	case toolOutput(v):
		if id, ok := callID(v); ok && w.t.asked[id] > 0 {
			return nil
		}
		return []Block{w.output(v, true)}
	case name == "reasoning":
		return w.reasoning(v)
	case name == "message", role != "" && (!kind.Exists() || kind.IsNull()):
		return w.message(v, role)
	case toolCall(v):
		return []Block{w.call(v)}
	}
	return []Block{w.unknown(v, name)}
}

func kindOf(from, kind string) string {
	if from != "" {
		return "input"
	}
	return kind
}

func title(from, word string) string {
	if from != "" {
		return from
	}
	return word
}

// message writes what somebody says: texts, images, refusals, and the tool calls of other dialects.
func (w *writer) message(v jsonscan.Value, role string) []Block {
	from := role
	if role == "" || role == "assistant" {
		from = ""
	}
	var list []Block
	if r := v.Get("reasoning_content"); r.Truthy() {
		list = append(list, w.reasoning(r)...)
	} else if r := v.Get("reasoning"); r.Truthy() {
		list = append(list, w.reasoning(r)...)
	}
	content := v.Get("content")
	switch {
	case content.IsString():
		list = append(list, w.text(kindOf(from, "message"), title(from, "message"), content.Text(), false))
	case content.IsArray():
		parts := 0
		e := content.Elements()
		for e.Next() && !w.full(&list) {
			parts++
			list = append(list, w.part(e.Value, from)...)
		}
		if parts == 0 {
			list = append(list, Block{ID: w.id(), Kind: kindOf(from, "message"), Title: title(from, "message"), Note: "empty list"})
		}
	case content.IsNull() && v.Get("tool_calls").Truthy():
	case content.IsNull():
		note := "no content"
		if content.Exists() {
			note = "content is null"
		}
		list = append(list, Block{ID: w.id(), Kind: kindOf(from, "message"), Title: title(from, "message"), Note: note})
	default:
		list = append(list, w.unknown(content, "content"))
	}
	e := v.Get("tool_calls").Elements()
	for e.Next() && !w.full(&list) {
		list = append(list, w.call(e.Value))
	}
	if note := tokenNote(v); note != "" && len(list) > 0 {
		list[len(list)-1].Note = strings.TrimPrefix(list[len(list)-1].Note+" · "+note, " · ")
	}
	return list
}

// tokenNote counts the token arrays of an item, which are never written out.
func tokenNote(v jsonscan.Value) string {
	var parts []string
	for _, key := range [...]string{"prompt_token_ids", "generation_token_ids", "generation_log_probs"} {
		if list := v.Get(key); list.IsArray() {
			n, _ := list.Parts()
			parts = append(parts, Group(n)+" "+strings.ReplaceAll(key, "_", " "))
		}
	}
	return strings.Join(parts, ", ")
}

// part writes one part of a message.
func (w *writer) part(v jsonscan.Value, from string) []Block {
	if v.IsString() {
		return []Block{w.text(kindOf(from, "message"), title(from, "message"), v.Text(), false)}
	}
	if !v.IsObject() {
		return []Block{w.unknown(v, "part")}
	}
	switch name := v.Get("type").Text(); name {
	case "output_text", "input_text", "text", "summary_text", "reasoning_text", "":
		if text := v.Get("text"); text.IsString() {
			return []Block{w.text(kindOf(from, "message"), title(from, "message"), text.Text(), false)}
		}
		if refusal := v.Get("refusal"); refusal.IsString() {
			return []Block{w.text("message", "refusal", refusal.Text(), false)}
		}
		return []Block{w.unknown(v, name)}
	case "refusal":
		return []Block{w.text("message", "refusal", v.Get("refusal").Text(), false)}
	case "thinking", "redacted_thinking":
		return w.reasoning(v)
	case "tool_use":
		return []Block{w.call(v)}
	case "tool_result":
		if id, ok := callID(v); ok && w.t.asked[id] > 0 {
			return nil
		}
		return []Block{w.output(v, true)}
	case "input_image", "image_url", "image", "output_image":
		return []Block{w.image(v)}
	default:
		return []Block{w.unknown(v, name)}
	}
}

// reasoning writes what the model thought, also when it is encrypted or empty.
func (w *writer) reasoning(v jsonscan.Value) []Block {
	switch {
	case v.IsString():
		return []Block{w.text("reasoning", "reasoning", v.Text(), false)}
	case v.IsArray():
		var list []Block
		e := v.Elements()
		for e.Next() && !w.full(&list) {
			list = append(list, w.reasoning(e.Value)...)
		}
		return list
	case !v.IsObject():
		return []Block{w.unknown(v, "reasoning")}
	}
	var texts []string
	for _, key := range [...]string{"summary", "content"} {
		field := v.Get(key)
		if field.IsString() {
			texts = append(texts, field.Text())
		}
		e := field.Elements()
		for e.Next() {
			if e.Value.IsString() {
				texts = append(texts, e.Value.Text())
			} else if text := e.Value.Get("text"); text.IsString() {
				texts = append(texts, text.Text())
			}
		}
	}
	for _, key := range [...]string{"text", "thinking"} {
		if field := v.Get(key); field.IsString() {
			texts = append(texts, field.Text())
		}
	}
	text := strings.Join(texts, "\n\n")
	secret := v.Get("encrypted_content")
	if !secret.IsString() {
		secret = v.Get("data")
	}
	if secret.IsString() {
		note := "encrypted, " + Group(secret.Len()-2) + " characters"
		if text == "" {
			return []Block{{ID: w.id(), Kind: "reasoning", Title: "reasoning", Note: note}}
		}
		b := w.text("reasoning", "reasoning", text, false)
		b.Note = note
		return []Block{b}
	}
	if text == "" {
		return []Block{{ID: w.id(), Kind: "reasoning", Title: "reasoning", Note: "empty"}}
	}
	return []Block{w.text("reasoning", "reasoning", text, false)}
}

// toolCall tells whether an item asks for a tool.
func toolCall(v jsonscan.Value) bool {
	if !v.IsObject() {
		return false
	}
	name := v.Get("type").Text()
	return strings.HasSuffix(name, "_call") || name == "tool_use" || name == "function" || name == "tool_call" ||
		v.Get("function").IsObject() && v.Get("id").IsString()
}

// toolCallID is the id that outputs refer to.
func toolCallID(v jsonscan.Value) (string, bool) {
	for _, key := range [...]string{"call_id", "id"} {
		if id := v.Get(key); id.IsString() {
			return id.Text(), true
		}
	}
	return "", false
}

// call writes a tool call with its output beside it.
func (w *writer) call(v jsonscan.Value) Block {
	name, arguments := v.Get("name"), v.Get("arguments")
	if function := v.Get("function"); function.IsObject() {
		name, arguments = function.Get("name"), function.Get("arguments")
	}
	if !arguments.Exists() {
		for _, key := range [...]string{"input", "action", "operation", "queries", "code"} {
			if arguments = v.Get(key); arguments.Exists() {
				break
			}
		}
	}
	kind := v.Get("type").Text()
	text, note := argumentText(arguments)
	b := w.text("call", "tool call", text, true)
	b.Name = name.Text()
	if b.Name == "" {
		b.Name = strings.TrimSuffix(kind, "_call")
	}
	if note != "" {
		b.Note = note
	}
	if b.Text == "" && b.Note == "empty" {
		b.Note = "no arguments"
	}
	id, named := toolCallID(v)
	if tool, ok := w.t.tools[id]; ok && named {
		b.Note = strings.TrimPrefix(b.Note+" · "+toolNote(tool), " · ")
		if status := tool.Get("status"); status.Is("failed") || status.Is("timeout") || status.Is("cancelled") {
			b.Mark = MarkFailed
		}
	}
	if !named {
		b.Children = append(b.Children, Block{Kind: "note", Title: "no call id", Text: "the call cannot be tied to an output"})
		return b
	}
	outputs := w.t.outputs[id]
	n := w.t.nth[v.Offset()]
	if w.t.asked[id] > 1 {
		b.Children = append(b.Children, Block{Kind: "note", Title: "call id used " + strconv.Itoa(w.t.asked[id]) + " times", Text: id})
	}
	switch {
	case w.t.asked[id] > 1 && n < len(outputs):
		b.Children = append(b.Children, w.output(outputs[n], false))
	case w.t.asked[id] == 1 && len(outputs) > 0:
		for n, out := range outputs {
			if n == mostOutputs {
				b.Children = append(b.Children, Block{Kind: "note", Title: "+ " + count(len(outputs)-n, "output", "outputs"), Text: "of this call are in the raw row"})
				break
			}
			b.Children = append(b.Children, w.output(out, false))
		}
	case w.t.tools[id].Get("output").Exists() && !w.t.tools[id].Get("output").IsNull():
		b.Children = append(b.Children, w.value("output", "output", w.t.tools[id].Get("output")))
	case kind == "function_call" || kind == "tool_use" || kind == "function" || kind == "custom_tool_call" || kind == "tool_call" || kind == "":
		b.Children = append(b.Children, Block{Kind: "note", Title: "unanswered", Text: "no output with the call id " + id + " was saved", Mark: MarkUnknown})
	}
	return b
}

// argumentText shows the arguments of a tool call as they were meant, and says what is odd about them.
func argumentText(v jsonscan.Value) (text, note string) {
	switch v.Kind() {
	case jsonscan.Absent:
		return "", ""
	case jsonscan.Null:
		return "", "arguments are null"
	case jsonscan.String:
		text = v.Text()
		if strings.TrimSpace(text) == "" {
			return text, ""
		}
		var s jsonscan.Scanner
		inner, err := s.Scan([]byte(text))
		switch {
		case err != nil:
			return text, "arguments are not JSON"
		case inner.IsString():
			return text, "arguments are JSON inside JSON"
		case !inner.IsObject():
			return text, "arguments are no object"
		}
		return text, ""
	}
	return pretty(v), "arguments are not a text"
}

func toolNote(tool jsonscan.Value) string {
	var parts []string
	if status := tool.Get("status").Text(); status != "" {
		parts = append(parts, status)
	}
	if ms, ok := tool.Get("duration_ms").Float(); ok {
		parts = append(parts, seconds(ms))
	}
	if e := tool.Get("error_type").Text(); e != "" {
		parts = append(parts, e)
	}
	return strings.Join(parts, " · ")
}

// output writes an answer of a tool. An orphan has no call and says so.
func (w *writer) output(v jsonscan.Value, orphan bool) Block {
	r := result(v)
	var b Block
	if r.Offset() == v.Offset() {
		b = w.unknown(v, v.Get("type").Text())
	} else {
		b = w.value("output", "output", r)
	}
	if status := v.Get("status").Text(); status != "" && status != "completed" {
		b.Note = strings.TrimPrefix(b.Note+" · "+status, " · ")
	}
	if orphan {
		id, _ := callID(v)
		b.Mark = MarkUnknown
		text := "no tool call with the id " + id + " was saved"
		if id == "" {
			text = "the output names no call"
		}
		b.Children = append(b.Children, Block{Kind: "note", Title: "output without a call", Text: text})
	}
	return b
}

// value writes a free value: a text as text, parts as parts, everything else as JSON.
func (w *writer) value(kind, title string, v jsonscan.Value) Block {
	switch {
	case v.IsString():
		return w.text(kind, title, v.Text(), true)
	case v.IsNull():
		return Block{ID: w.id(), Kind: kind, Title: title, Note: "null"}
	case v.IsArray() && typedParts(v):
		b := Block{ID: w.id(), Kind: kind, Title: title, Children: []Block{}}
		e := v.Elements()
		for e.Next() && !w.full(&b.Children) {
			b.Children = append(b.Children, w.part(e.Value, "")...)
		}
		return b
	}
	return w.text(kind, title, pretty(v), true)
}

func typedParts(v jsonscan.Value) bool {
	e := v.Elements()
	n := 0
	for e.Next() {
		if !e.Value.IsObject() || !e.Value.Get("type").IsString() {
			return false
		}
		n++
	}
	return n > 0
}

// unknown writes what has no form of its own as JSON with its type.
func (w *writer) unknown(v jsonscan.Value, name string) Block {
	if name == "" {
		name = v.Kind().String()
	}
	b := w.text("raw", name, pretty(v), true)
	if v.IsNull() {
		b.Text, b.Note = "", "null"
	}
	return b
}

// pretty lays JSON out, up to a bound.
func pretty(v jsonscan.Value) string {
	if v.Len() > 64*rawText {
		return string(v.Raw()[:rawText]) + fmt.Sprintf("… (%s bytes, see the raw row)", Group(v.Len()))
	}
	var b strings.Builder
	o := NewOutline(v)
	for i := range o.Len() {
		line := o.Line(i)
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.Repeat("  ", min(line.Depth, 40)))
		if line.Key != "" {
			b.WriteString(line.Key + ": ")
		}
		b.WriteString(line.Text)
		if line.Folded > 0 {
			fmt.Fprintf(&b, "… (+ %s characters)", Group(line.Folded))
		}
	}
	return b.String()
}

// image writes a picture: a bitmap from a data URL is shown, everything else is said. Nothing is fetched.
func (w *writer) image(v jsonscan.Value) Block {
	b := Block{ID: w.id(), Kind: "image", Title: "image"}
	address := v.Get("image_url")
	if address.IsObject() {
		address = address.Get("url")
	}
	if source := v.Get("source"); !address.Exists() && source.IsObject() {
		if source.Get("type").Is("base64") {
			return w.bitmap(b, "data:"+source.Get("media_type").Text()+";base64,"+source.Get("data").Text())
		}
		address = source.Get("url")
	}
	switch {
	case address.IsString() && strings.HasPrefix(address.Text(), "data:"):
		return w.bitmap(b, address.Text())
	case address.IsString():
		b.Text, b.Note = address.Text(), "an address, not fetched"
	case v.Get("file_id").IsString():
		b.Text, b.Note = v.Get("file_id").Text(), "a file id, its content is not in the row"
	default:
		b.Note = "no picture in it"
	}
	return b
}

// bitmaps are the kinds of picture a page may show, by their first bytes. SVG and HTML are programs.
var bitmaps = []struct{ media, magic string }{
	{"image/png", "\x89PNG\r\n\x1a\n"}, {"image/jpeg", "\xff\xd8\xff"}, {"image/gif", "GIF8"}, {"image/webp", "RIFF"},
}

func (w *writer) bitmap(b Block, url string) Block {
	head, data, _ := strings.Cut(url, ",")
	media, encoding, _ := strings.Cut(strings.TrimPrefix(head, "data:"), ";")
	b.Note = fmt.Sprintf("%s, %s characters", media, Group(len(data)))
	if media == "" {
		b.Note = Group(len(data)) + " characters without a kind"
	}
	for _, k := range bitmaps {
		if media != k.media {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(data))
		switch {
		case encoding != "base64" || err != nil:
			b.Note += ", not valid base64"
		case !strings.HasPrefix(string(raw[:min(len(raw), 16)]), k.magic):
			b.Note += ", not a picture of that kind"
		case len(url) > imageBytes:
			b.Note += ", too large to be shown"
		default:
			b.Image = "data:" + k.media + ";base64," + base64.StdEncoding.EncodeToString(raw)
			b.Note = fmt.Sprintf("%s, %s", media, Bytes(int64(len(raw))))
		}
		return b
	}
	b.Note += ", shown as text"
	b.Text = url[:prefix(url, 300)]
	b.Mono = true
	if rest := utf8.RuneCountInString(url[len(b.Text):]); rest > 0 {
		b.Folded = rest
	}
	return b
}

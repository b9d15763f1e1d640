package search

import (
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/transcript"
)

// A Part says what a text is to the reader of a rollout.
type Part uint8

// The parts of what is said. Other is anything else, such as a name, an id or a text that is not shown.
const (
	Other Part = iota
	Message
	Reasoning
	ToolCall
	ToolResult
)

// String gives the words for it.
func (p Part) String() string {
	return [...]string{"other", "message", "reasoning", "tool call", "tool result"}[p]
}

// Words say what the text of a hit is: who says it, of which tool it is, or where it stands in the row.
func (h *Hit) Words() string {
	switch {
	case h.Part == Other:
		return h.Pointer
	case h.Part == Message && h.Role != "":
		return h.Role
	case h.Tool != "":
		return h.Part.String() + " " + h.Tool
	}
	return h.Part.String()
}

// Parts is a set of parts.
type Parts uint8

// Has tells whether a part is in the set; the empty set has all.
func (p Parts) Has(part Part) bool { return p == 0 || p>>part&1 != 0 }

// With gives the set with a part more.
func (p Parts) With(part Part) Parts { return p | 1<<part }

// A place is what is known of a text because of where it stands in the conversation.
type place struct {
	part Part
	role string // of a message
	tool string // name of the tool
	call string // its id
	turn int    // from 1, 0 for none
}

// A shownText is a text of the conversation.
type shownText struct {
	value jsonscan.Value
	place
}

// A reader lists the texts of a conversation, each once, in the order of its turns.
type reader struct {
	reader transcript.Reader
	texts  []shownText
	seen   map[int]bool // places of the texts that are listed
}

// read lists what is said in a row.
func (r *reader) read(row *rollout.Row) []shownText {
	r.texts = r.texts[:0]
	if r.seen == nil {
		r.seen = map[int]bool{}
	}
	clear(r.seen)
	t := r.reader.Read(row)
	r.items(t.Prompt, 0)
	for i := range t.Turns {
		turn := &t.Turns[i]
		r.items(turn.Input, i+1)
		r.items(turn.Reasoning, i+1)
		r.items(turn.Answer, i+1)
		for _, n := range turn.Tools {
			r.result(&t.Tools[n])
		}
	}
	for i := range t.Tools {
		r.result(&t.Tools[i])
	}
	r.items(t.Orphans, 0)
	return r.texts
}

// result lists what a tool gave back.
func (r *reader) result(t *transcript.Tool) {
	if t.Answered {
		r.content(transcript.Item{Kind: transcript.ToolResult, Text: t.Result}, place{ToolResult, "", t.Name, t.ID, t.Turn + 1})
	}
}

func (r *reader) items(items []transcript.Item, turn int) {
	for i := range items {
		it := &items[i]
		switch it.Kind {
		case transcript.Message:
			r.content(*it, place{part: Message, role: it.Role, turn: turn})
		case transcript.Reasoning:
			r.content(*it, place{part: Reasoning, turn: turn})
		case transcript.ToolCall:
			r.strings(it.Arguments, place{ToolCall, "", it.Name, it.CallID, turn})
		case transcript.ToolResult:
			r.content(*it, place{ToolResult, "", it.Name, it.CallID, turn})
		default:
			r.strings(it.Value, place{part: Other, turn: turn}) // shown as it is written
		}
	}
}

// content lists the texts of an item, and of a part that is shown as it is written all strings.
func (r *reader) content(it transcript.Item, at place) {
	for _, part := range it.Content() {
		switch {
		case part.Text.IsString():
			r.add(part.Text, at)
		case part.Kind == transcript.PartOther:
			r.strings(part.Value, at)
		}
	}
}

func (r *reader) add(v jsonscan.Value, at place) {
	if !r.seen[v.Offset()] {
		r.seen[v.Offset()] = true
		r.texts = append(r.texts, shownText{v, at})
	}
}

// strings lists all strings of a value.
func (r *reader) strings(v jsonscan.Value, at place) {
	each(v, func(s jsonscan.Value) { r.add(s, at) })
}

// each visits all strings of a value in the order of the text. A member that is repeated counts as the last one.
func each(v jsonscan.Value, visit func(jsonscan.Value)) {
	switch v.Kind() {
	case jsonscan.String:
		visit(v)
	case jsonscan.Array:
		for e := v.Elements(); e.Next(); {
			each(e.Value, visit)
		}
	case jsonscan.Object:
		last := lastMembers(v)
		for m := v.Members(); m.Next(); {
			if last == nil || last[string(m.Key)] == m.Value.Offset() {
				each(m.Value, visit)
			}
		}
	}
}

// lastMembers gives the place of the last member of each name, nil if no name is repeated.
func lastMembers(v jsonscan.Value) map[string]int {
	var room [16]string
	names := room[:0]
	var last map[string]int
	repeated := false
	for m := v.Members(); m.Next(); {
		if last == nil && len(names) < len(room) {
			for _, name := range names {
				repeated = repeated || name == string(m.Key)
			}
			names = append(names, string(m.Key))
			continue
		}
		if last == nil {
			last = make(map[string]int, 2*len(room))
			for _, name := range names {
				last[name] = -1
			}
		}
		if _, there := last[string(m.Key)]; there {
			repeated = true
		}
		last[string(m.Key)] = -1
	}
	if !repeated {
		return nil
	}
	last = map[string]int{}
	for m := v.Members(); m.Next(); {
		last[string(m.Key)] = m.Value.Offset()
	}
	return last
}

// A trail gives JSON pointers of places in a row. It remembers the way to the last one: what is asked for usually lies
// behind it, and of a long list nothing is passed twice.
type trail struct {
	row  jsonscan.Value
	path []step
}

// A step is a walk through a container that stands at one of its values.
type step struct {
	elements jsonscan.Elements
	members  jsonscan.Members
	array    bool
	n        int // of the element
	text     string
}

func (s *step) value() jsonscan.Value {
	if s.array {
		return s.elements.Value
	}
	return s.members.Value
}

// reach goes on to the value that holds an offset and tells whether there is one.
func (s *step) reach(offset int) bool {
	for s.next() {
		if v := s.value(); holds(v, offset) {
			if s.array {
				s.text = "/" + strconv.Itoa(s.n-1)
			} else {
				s.text = "/" + escape.Replace(string(s.members.Key))
			}
			return true
		} else if v.Offset() > offset {
			return false
		}
	}
	return false
}

func (s *step) next() bool {
	if s.n++; s.array {
		return s.elements.Next()
	}
	return s.members.Next()
}

// pointer gives the JSON pointer of the value at an offset of the row.
func (t *trail) pointer(offset int) string {
	keep := 0
	for keep < len(t.path) && holds(t.path[keep].value(), offset) {
		keep++
	}
	at := t.row
	if keep > 0 {
		at = t.path[keep-1].value()
	}
	if keep < len(t.path) {
		// Within this container it goes on, unless the place lies before.
		last := t.path[keep]
		if t.path = t.path[:keep]; last.value().Offset() <= offset && at.Offset() != offset && last.reach(offset) {
			t.path = append(t.path, last)
			at = last.value()
		}
	}
	for at.Offset() != offset {
		s := step{elements: at.Elements(), members: at.Members(), array: at.IsArray()}
		if !s.reach(offset) {
			break
		}
		t.path = append(t.path, s)
		at = s.value()
	}
	var b strings.Builder
	for i := range t.path {
		b.WriteString(t.path[i].text)
	}
	return b.String()
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")

func holds(v jsonscan.Value, offset int) bool {
	return v.Offset() <= offset && offset < v.Offset()+v.Len()
}

// follow gives the value at a JSON pointer, absent if there is none.
func follow(v jsonscan.Value, pointer string) jsonscan.Value {
	for pointer != "" {
		if pointer[0] != '/' {
			return jsonscan.Value{}
		}
		var key string
		key, pointer, _ = strings.Cut(pointer[1:], "/")
		if pointer != "" {
			pointer = "/" + pointer
		}
		if v.IsArray() {
			n, err := strconv.ParseUint(key, 10, 31)
			next := jsonscan.Value{}
			for e := v.Elements(); err == nil && e.Next(); n-- {
				if n == 0 {
					next = e.Value
					break
				}
			}
			v = next
			continue
		}
		v = v.Get(unescape.Replace(key))
	}
	return v
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

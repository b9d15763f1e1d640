package view

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A State is everything a person can set about what is shown. The zero State is the first look at a run.
type State struct {
	Order   []string  // source names in the order they are read; empty means the default order
	Drop    []string  // source names that are left out
	Apart   bool      // every run has its own report and ordinals
	Run     string    // name of the run that is shown when runs are apart
	Tab     string    // one of [Tabs]; "" is the first that has evidence
	Filter  string    // filter text, see package filter
	Sort    string    // column key, with "-" in front for descending
	Columns []Shown   // the chosen columns in order; empty means the default ones
	Check   string    // the check that is open on the Health tab
	Rollout string    // "<source name>:<line>" of the open rollout
	Part    string    // part of the rollout page: transcript, tokens, calls, raw
	Turn    int       // turn the page stands at, 0 for none
	At      string    // what of the rollout is meant: a letter for its kind and its number from 1, see spot
	Token   int       // token the page stands at in a sequence, 0 for none
	By      string    // what colours tokens: "" and logprob, or entropy
	Search  string    // what is looked for in all transcripts, see [Desk.Page]
	Find    string    // text that is looked for in the JSON
	Hit     int       // the place of it, or in a transcript of Search, that the page stands at; 0 for none
	Open    []string  // folded texts of the rollout page that are open, by the id of their block
	Profile string    // of the health rules: "" and 0.7, or main
	Ignore  []string  // ignored check ids, as given
	Set     []Setting // what else is set, by its name; see [State.Setting]
	Files   []File    // the files a link was made of; a page that has them shows what is known without naming them
}

// A Setting is a choice of one tab alone. Its name begins with that of the tab: "harness.by".
type Setting struct{ Name, Value string }

// Setting gives a choice, "" where nothing is chosen.
func (s *State) Setting(name string) string {
	for _, c := range s.Set {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// Choose gives the State with a choice made; "" takes it back.
func (s State) Choose(name, value string) State {
	return s.With(func(s *State) {
		s.Set = slices.DeleteFunc(s.Set, func(c Setting) bool { return c.Name == name })
		if value != "" {
			at := 0
			for at < len(s.Set) && s.Set[at].Name < name {
				at++
			}
			s.Set = slices.Insert(s.Set, at, Setting{name, value})
		}
	})
}

// A Shown is a column that a person has chosen.
type Shown struct {
	Key   string
	Width int // CSS pixels, 0 for the usual width
}

// Widths that a column can be given.
const (
	narrowest = 40
	broadest  = 1200
)

// A File is a file as a link names it.
type File struct {
	Name string
	Size int64
	Hash string // of its sampled blocks, see package source; "" where it is not known
}

// Encode gives the canonical fragment: fixed order of keys, nothing that has its zero value.
func (s State) Encode() string {
	var b strings.Builder
	put := func(key, value string) {
		if value == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(key)
		b.WriteByte('=')
		b.WriteString(escape(value))
	}
	put("tab", s.Tab)
	put("run", s.Run)
	put("rollout", s.Rollout)
	put("part", s.Part)
	if s.Turn != 0 {
		put("turn", strconv.Itoa(s.Turn))
	}
	put("at", s.At)
	if s.Token != 0 {
		put("token", strconv.Itoa(s.Token))
	}
	put("by", s.By)
	put("search", s.Search)
	put("find", s.Find)
	if s.Hit != 0 {
		put("hit", strconv.Itoa(s.Hit))
	}
	put("open", join(s.Open))
	put("check", s.Check)
	put("filter", s.Filter)
	put("sort", s.Sort)
	put("columns", encodeColumns(s.Columns))
	put("profile", s.Profile)
	put("ignore", join(s.Ignore))
	put("order", join(s.Order))
	put("drop", join(s.Drop))
	if s.Apart {
		put("apart", "1")
	}
	put("set", encodeSettings(s.Set))
	put("files", encodeFiles(s.Files))
	return b.String()
}

// Decode reads a fragment or query string, with or without its leading # or ?. It takes what it
// understands; unknown lists the keys it did not, in order, so that a page can say so.
func Decode(text string) (s State, unknown []string) {
	text = strings.TrimLeft(text, "#?")
	unknown = []string{}
	for part := range strings.SplitSeq(text, "&") {
		if part == "" {
			continue
		}
		key, raw, _ := strings.Cut(part, "=")
		value, err := url.QueryUnescape(raw)
		if err != nil {
			unknown = append(unknown, key)
			continue
		}
		switch key {
		case "tab":
			s.Tab = value
		case "run":
			s.Run = value
		case "rollout":
			s.Rollout = value
		case "part":
			s.Part = value
		case "turn", "token", "hit":
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 {
				unknown = append(unknown, key)
				continue
			}
			*map[string]*int{"turn": &s.Turn, "token": &s.Token, "hit": &s.Hit}[key] = n
		case "at":
			s.At = value
		case "by":
			s.By = value
		case "search":
			s.Search = value
		case "find":
			s.Find = value
		case "open":
			s.Open = split(value)
		case "check":
			s.Check = value
		case "filter":
			s.Filter = value
		case "sort":
			s.Sort = value
		case "columns":
			s.Columns = decodeColumns(value)
		case "profile":
			s.Profile = value
		case "ignore":
			s.Ignore = split(value)
		case "order":
			s.Order = split(value)
		case "drop":
			s.Drop = split(value)
		case "apart":
			s.Apart = value == "1"
		case "set":
			for _, item := range split(value) {
				if name, value, ok := strings.Cut(item, "="); ok && name != "" {
					s = s.Choose(name, value)
				}
			}
		case "files":
			if s.Files, err = decodeFiles(value); err != nil {
				unknown = append(unknown, key)
			}
		default:
			unknown = append(unknown, key)
		}
	}
	return s, unknown
}

// Href gives the link to this State.
func (s State) Href() string { return "#" + s.Encode() }

// With gives a copy changed by f. Lists are copied, so the change cannot reach s.
func (s State) With(f func(*State)) State {
	for _, list := range [...]*[]string{&s.Order, &s.Drop, &s.Ignore, &s.Open} {
		*list = slices.Clone(*list)
	}
	s.Columns, s.Files, s.Set = slices.Clone(s.Columns), slices.Clone(s.Files), slices.Clone(s.Set)
	f(&s)
	return s
}

// ToTab is the State behind a click on a tab: the filter stays, the place inside another tab does not.
func (s State) ToTab(tab string) State {
	return s.With(func(s *State) {
		if s.Tab != tab {
			s.Columns = nil // every tab has columns of its own
		}
		s.Tab, s.Rollout, s.Part, s.Turn, s.Open, s.Check, s.Sort = tab, "", "", 0, nil, "", ""
		s.At, s.Token, s.By, s.Find, s.Hit = "", 0, "", "", 0
	})
}

// encodeColumns writes key or key:width.
func encodeColumns(list []Shown) string {
	texts := make([]string, len(list))
	for i, c := range list {
		if texts[i] = c.Key; c.Width > 0 {
			texts[i] += ":" + strconv.Itoa(c.Width)
		}
	}
	return join(texts)
}

func decodeColumns(text string) []Shown {
	var list []Shown
	for _, item := range split(text) {
		c := Shown{Key: item}
		if key, width, ok := strings.Cut(item, ":"); ok {
			c.Key = key
			if n, err := strconv.Atoi(width); err == nil && n > 0 {
				c.Width = min(max(n, narrowest), broadest)
			}
		}
		if c.Key != "" && !slices.ContainsFunc(list, func(have Shown) bool { return have.Key == c.Key }) {
			list = append(list, c)
		}
	}
	return list
}

// encodeSettings writes name=value.
func encodeSettings(list []Setting) string {
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = c.Name + "=" + c.Value
	}
	return join(texts)
}

// encodeFiles writes name:size:hash. Names may hold colons, sizes and hashes do not.
func encodeFiles(list []File) string {
	texts := make([]string, len(list))
	for i, f := range list {
		texts[i] = f.Name + ":" + strconv.FormatInt(f.Size, 10) + ":" + f.Hash
	}
	return join(texts)
}

var errFiles = errors.New("files are named name:size:hash")

func decodeFiles(text string) ([]File, error) {
	var list []File
	for _, item := range split(text) {
		end := strings.LastIndexByte(item, ':')
		if end < 0 {
			return nil, errFiles
		}
		middle := strings.LastIndexByte(item[:end], ':')
		if middle <= 0 {
			return nil, errFiles
		}
		size, err := strconv.ParseInt(item[middle+1:end], 10, 64)
		if err != nil || size < 0 {
			return nil, errFiles
		}
		hash := item[end+1:]
		for _, c := range hash {
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return nil, errFiles
			}
		}
		list = append(list, File{Name: item[:middle], Size: size, Hash: hash})
	}
	return list, nil
}

// A list is joined by commas; a comma or backslash inside a name is escaped by a backslash.
func join(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = strings.NewReplacer(`\`, `\\`, `,`, `\,`).Replace(s)
	}
	return strings.Join(quoted, ",")
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	var list []string
	var item strings.Builder
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			item.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == ',':
			list = append(list, item.String())
			item.Reset()
		default:
			item.WriteRune(r)
		}
	}
	return append(list, item.String())
}

// escape keeps a fragment readable: only what would end or change a value is written as %XX.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			b.WriteByte('+')
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.~:/,()!*'@;$", c) >= 0:
			b.WriteByte(c)
		default:
			const digits = "0123456789ABCDEF"
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

package engine

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rollscope/rollscope/core/packed"
	"github.com/rollscope/rollscope/core/view"
)

// A slice gets the bytes of a Need out of a packed file. It stays where it is afterwards, so that a row further on
// needs no new start.
type slice struct {
	file   int
	feeder *packed.Feeder
	at     int64 // plain offset of the next byte
	need   view.Need
	data   []byte
}

// lump is how much room is made at once for bytes that have not come yet.
const lump = 64 << 20

// slice begins to unpack what a Need names. The answer says where in the packed file to go on feeding, or that
// nothing need be fed.
func (e *Engine) slice(request []byte) ([]byte, error) {
	var need view.Need
	if err := json.Unmarshal(request, &need); err != nil {
		return nil, fmt.Errorf("slice: %w", err)
	}
	from, ok := e.desk.Packed(need)
	if !ok || need.Offset < 0 || need.Length < 0 {
		return nil, errors.New("slice: these bytes are in no packed file")
	}
	s := e.sliced
	if s == nil || s.file != need.File || s.at > need.Offset || s.at < from.Plain {
		e.endSlice()
		s = &slice{file: need.File, at: from.Plain}
		s.feeder = packed.NewFeeder(from, s.take)
		e.sliced = s
	}
	s.need, s.data = need, make([]byte, 0, min(need.Length, lump))
	e.slicing = true
	done := e.feedSlice(nil)
	return json.Marshal(map[string]any{"next": s.feeder.Next(), "done": done})
}

// take keeps what is wanted of the plain bytes and leaves what comes behind it.
func (s *slice) take(b []byte) int {
	skip := int(min(max(s.need.Offset-s.at, 0), int64(len(b))))
	want := int(min(s.need.Length-int64(len(s.data)), int64(len(b)-skip)))
	s.data = append(s.data, b[skip:skip+want]...)
	s.at += int64(skip + want)
	return skip + want
}

// feedSlice takes the next packed bytes and tells whether no more are needed.
func (e *Engine) feedSlice(b []byte) (done bool) {
	s := e.sliced
	if s.need.Length > 0 && s.feeder.Feed(b) && int64(len(s.data)) < s.need.Length {
		e.finishSlice()
		return true
	}
	if int64(len(s.data)) < s.need.Length {
		return false
	}
	e.desk.Supply(s.need, s.data, "")
	s.data, e.slicing = nil, false
	return true
}

// finishSlice ends the packed file; what is missing then is a problem of the file.
func (e *Engine) finishSlice() {
	s := e.sliced
	err := s.feeder.Finish()
	switch {
	case int64(len(s.data)) == s.need.Length:
		e.desk.Supply(s.need, s.data, "")
	case err != nil:
		e.desk.Supply(s.need, nil, err.Error())
	default:
		e.desk.Supply(s.need, nil, "the packed file is shorter than when it was read")
	}
	e.endSlice()
}

func (e *Engine) endSlice() {
	if e.sliced != nil {
		e.sliced.feeder.Close()
	}
	e.sliced, e.slicing = nil, false
}

package modelcall

import (
	"bytes"
	"math"
	"math/big"
	"strings"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
)

// A BadKeyError says why a row names no capture: its explicit rollout id or its attempt cannot be part of a key.
type BadKeyError struct{ Member, Value string }

// Error names the member and its value.
func (e *BadKeyError) Error() string {
	return e.Member + " is " + e.Value + ", which cannot be part of a capture's name"
}

// Names are the members of a row that its key is made of (spec model-calls §2).
type Names struct{ RolloutID, Task, Rollout, Attempt jsonscan.Value }

// NamesOf takes them from a row.
func NamesOf(row *rollout.Row) Names {
	return Names{row.RolloutID, row.TaskIndex, row.RolloutIdx, row.Attempt}
}

// Key gives the capture key of a row; "" if the row names none. The error is a [*BadKeyError].
func (n Names) Key() (string, error) {
	var key []byte
	switch {
	case !n.RolloutID.IsNull():
		if !n.RolloutID.IsString() || !explicit(n.RolloutID.Text()) {
			return "", &BadKeyError{"_ng_rollout_id", shown(n.RolloutID)}
		}
		key = n.RolloutID.AppendText(key)
	case n.Task.IsNull() || n.Rollout.IsNull():
		return "", nil
	default:
		key = n.AppendPair(key)
	}
	if !n.Attempt.IsNull() {
		attempt, ok := whole(n.Attempt)
		if !ok {
			return "", &BadKeyError{"_ng_attempt_index", shown(n.Attempt)}
		}
		if attempt.Sign() > 0 {
			key = attempt.Append(append(key, "-a"...), 10)
		}
	}
	return string(key), nil
}

// AppendPair appends the task and the rollout index with a hyphen between them.
func (n Names) AppendPair(dst []byte) []byte {
	dst = rollout.AppendText(dst, n.Task)
	dst = append(dst, '-')
	return rollout.AppendText(dst, n.Rollout)
}

// shown is a value for a message.
func shown(v jsonscan.Value) string {
	const most = 80
	raw := v.Raw()
	if len(raw) > most {
		return strings.ToValidUTF8(string(raw[:most]), "") + "…"
	}
	return string(raw)
}

// explicit tells whether a text can be an explicit rollout id.
func explicit(s string) bool { return s != "" && alphanumeric(s[0]) && keyed(s) }

// keyed tells whether a text has only characters that keys have.
func keyed(s string) bool {
	for i := range len(s) {
		if c := s[i]; !alphanumeric(c) && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return s != ""
}

func alphanumeric(c byte) bool { return c-'0' < 10 || c|0x20-'a' < 26 }

// whole converts a value to a whole number as the reference does: fractions are cut off, texts may have a sign,
// white space around and single underscores inside.
func whole(v jsonscan.Value) (n *big.Int, ok bool) {
	switch v.Kind() {
	case jsonscan.Bool:
		truth, _ := v.Truth()
		if truth {
			return big.NewInt(1), true
		}
		return new(big.Int), true
	case jsonscan.Int:
		return new(big.Int).SetString(string(v.Raw()), 10)
	case jsonscan.Float:
		f, _ := v.Float()
		n, _ := big.NewFloat(math.Trunc(f)).Int(nil)
		return n, true
	case jsonscan.String:
		text := bytes.TrimSpace([]byte(v.Text()))
		digits := bytes.TrimLeft(text, "+-")
		if len(text)-len(digits) > 1 || len(digits) == 0 || len(digits) > 4300 || digits[0] == '_' || digits[len(digits)-1] == '_' || bytes.Contains(digits, []byte("__")) {
			return nil, false
		}
		for _, c := range digits {
			if c-'0' > 9 && c != '_' {
				return nil, false
			}
		}
		return new(big.Int).SetString(strings.TrimPrefix(string(bytes.ReplaceAll(text, []byte("_"), nil)), "+"), 10)
	}
	return nil, false
}

// The kinds of files in a capture directory (spec model-calls §1).
type FileKind uint8

const (
	FileOther   FileKind = iota // nothing of ours
	FileCapture                 // one exchange a line
	FileMarker                  // empty: an exchange could not be written
	FileClaim                   // bookkeeping of writes that were announced; its content is not known
	FileBadKey                  // named like a capture, but with a key that no row can have
)

const (
	captureSuffix = ".capture.jsonl"
	markerSuffix  = ".capture.incomplete"
	claimInfix    = ".capture."
)

// File tells what a file of this name is and whose.
func File(base string) (key string, kind FileKind) {
	for _, suffix := range [...]string{".tokens.jsonl", ".tokens.state.json", ".lineage.jsonl"} {
		if strings.HasSuffix(base, suffix) {
			return "", FileOther
		}
	}
	if rest, ok := strings.CutSuffix(base, captureSuffix); ok {
		key, kind = rest, FileCapture
	} else if rest, ok := strings.CutSuffix(base, markerSuffix); ok {
		key, kind = rest, FileMarker
	} else {
		// A word, and perhaps a token without dots behind it.
		at := strings.LastIndex(base, claimInfix)
		if at < 0 {
			return "", FileOther
		}
		word, token, more := strings.Cut(base[at+len(claimInfix):], ".")
		if word == "" || word == "jsonl" || word == "incomplete" || more && (token == "" || strings.Contains(token, ".")) {
			return "", FileOther
		}
		key, kind = base[:at], FileClaim
	}
	if !keyed(key) {
		return key, FileBadKey
	}
	return key, kind
}

// CaptureFile and MarkerFile are the names of the files of a key.
func CaptureFile(key string) string { return key + captureSuffix }

// MarkerFile is the name of the empty file that says that a capture lacks an exchange.
func MarkerFile(key string) string { return key + markerSuffix }

// FileKey tells whether a key can be part of a file name at all.
func FileKey(key string) bool { return keyed(key) }

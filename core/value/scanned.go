package value

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
)

// Row is the form of the rows that a collection writes: keys in their places, floats as the reference's fast
// serialiser has them.
var Row = &Form{float: jsontext.AppendFloat, text: jsontext.AppendQuoted[string]}

// AppendScanned appends a scanned value in the form [Row], without building its tree: no white space, shortest
// floats, no escape that is not needed, of repeated keys the last value in the place of the first. Absent is null.
//
// A text that was written in this form is copied nearly as it stands, so that a row costs not much more than its
// bytes.
func AppendScanned(dst []byte, v jsonscan.Value) []byte {
	switch v.Kind() {
	case jsonscan.Absent:
		return append(dst, "null"...)
	case jsonscan.Int:
		if raw := v.Raw(); len(raw) != 2 || raw[1] != '0' || raw[0] != '-' {
			return append(dst, raw...)
		}
		return append(dst, '0')
	case jsonscan.Float:
		return appendScannedFloat(dst, v)
	case jsonscan.String:
		return AppendScannedText(dst, v)
	case jsonscan.Array:
		dst = append(dst, '[')
		first := true
		e := v.Elements()
		for e.Next() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = AppendScanned(dst, e.Value)
		}
		return append(dst, ']')
	case jsonscan.Object:
		if Repeats(v) {
			return Of(v).Append(dst, Row)
		}
		dst = append(dst, '{')
		first := true
		m := v.Members()
		for m.Next() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = jsontext.AppendQuoted(dst, m.Key)
			dst = append(dst, ':')
			dst = AppendScanned(dst, m.Value)
		}
		return append(dst, '}')
	}
	return append(dst, v.Raw()...)
}

// AppendScannedText appends a scanned string, quoted, with no escape that is not needed.
func AppendScannedText(dst []byte, v jsonscan.Value) []byte {
	inner, escapes := v.Escaped()
	if !escapes || frugal(inner) {
		dst = append(dst, '"')
		dst = append(dst, inner...)
		return append(dst, '"')
	}
	return jsontext.AppendQuoted(dst, v.Text())
}

// suspicious tells whether a backslash stands in front of a u or a slash anywhere. It looks at eight bytes at a time
// and may say so of a few texts that have neither.
func suspicious(s []byte) bool {
	const low, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+17 <= len(s); i += 16 {
		// Most stretches have no backslash at all.
		a := binary.LittleEndian.Uint64(s[i:]) ^ low*'\\'
		b := binary.LittleEndian.Uint64(s[i+8:]) ^ low*'\\'
		a, b = (a-low)&^a&high, (b-low)&^b&high
		if a|b == 0 {
			continue
		}
		y := binary.LittleEndian.Uint64(s[i+1:])
		z := binary.LittleEndian.Uint64(s[i+9:])
		u, slash := y^low*'u', y^low*'/'
		v, solidus := z^low*'u', z^low*'/'
		if a&((u-low)&^u|(slash-low)&^slash)|b&((v-low)&^v|(solidus-low)&^solidus) != 0 {
			return true
		}
	}
	for ; i+9 <= len(s); i += 8 {
		x := binary.LittleEndian.Uint64(s[i:]) ^ low*'\\'
		if x = (x - low) & ^x & high; x == 0 {
			continue
		}
		y := binary.LittleEndian.Uint64(s[i+1:])
		u, slash := y^low*'u', y^low*'/'
		if x&((u-low)&^u|(slash-low)&^slash) != 0 {
			return true
		}
	}
	for ; i+1 < len(s); i++ {
		if s[i] == '\\' && (s[i+1] == 'u' || s[i+1] == '/') {
			return true
		}
	}
	return false
}

// frugal tells whether the escapes of a string are those that it would be written with.
func frugal(inner []byte) bool {
	// All escapes but two kinds are needed, and those two are rare.
	if !suspicious(inner) {
		return true
	}
	for {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 {
			return true
		}
		switch inner[i+1] {
		case '"', '\\', 'b', 'f', 'n', 'r', 't':
			inner = inner[i+2:]
		case 'u':
			// Control characters without a letter of their own, in lower case.
			low := inner[i+5]
			if string(inner[i+2:i+4]) != "00" || inner[i+4] > '1' || low-'A' < 6 {
				return false
			}
			if inner[i+4] == '0' {
				switch low {
				case '8', '9', 'a', 'c', 'd':
					return false
				}
			}
			inner = inner[i+6:]
		default:
			return false
		}
	}
}

// appendScannedFloat copies a float that stands in its shortest form and writes every other one anew.
func appendScannedFloat(dst []byte, v jsonscan.Value) []byte {
	raw := v.Raw()
	if shortest(raw) {
		return append(dst, raw...)
	}
	f, _ := v.Float()
	return jsontext.AppendFloat(dst, f)
}

// shortest tells of a number with few digits and no exponent whether it is written as [jsontext.AppendFloat] would.
// Fifteen digits are told apart by every double, so no shorter text can mean the same.
func shortest(raw []byte) bool {
	if raw[0] == '-' {
		raw = raw[1:]
	}
	if len(raw) > 16 {
		return false
	}
	point := bytes.IndexByte(raw, '.')
	if point < 0 || bytes.IndexAny(raw, "eE") >= 0 {
		return false
	}
	fraction := raw[point+1:]
	if fraction[len(fraction)-1] == '0' && len(fraction) > 1 {
		return false
	}
	if point == 1 && raw[0] == '0' {
		// Below 1e-5 an exponent is written.
		zeros := 0
		for zeros < len(fraction) && fraction[zeros] == '0' {
			zeros++
		}
		return zeros < 5 || len(fraction) == 1
	}
	return true
}

// Settled tells whether a scanned value stands in the text as [AppendScanned] would write it, so that its bytes can be
// taken as they are.
func Settled(v jsonscan.Value) bool { return settled(v, v.Offset()) }

// SettledAfter is [Settled] for a value that may begin as another one does, which is settled and whose text is given.
// What both have in common is not looked at again.
func SettledAfter(v jsonscan.Value, other []byte) bool {
	return settled(v, v.Offset()+common(v.Raw(), other))
}

// common is the number of bytes that two texts begin with in common.
func common(a, b []byte) int {
	const block = 1 << 12
	n := min(len(a), len(b))
	i := 0
	for i+block <= n && bytes.Equal(a[i:i+block], b[i:i+block]) {
		i += block
	}
	for i+8 <= n && binary.LittleEndian.Uint64(a[i:]) == binary.LittleEndian.Uint64(b[i:]) {
		i += 8
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// settled looks at a value whose text is known to be settled up to an offset. What ends in front of it cannot go on
// behind it, so that it is settled itself.
func settled(v jsonscan.Value, known int) bool {
	if v.Offset()+v.Len() < known {
		return true
	}
	switch v.Kind() {
	case jsonscan.Absent:
		return false
	case jsonscan.Int:
		raw := v.Raw()
		return len(raw) != 2 || raw[1] != '0' || raw[0] != '-'
	case jsonscan.Float:
		raw := v.Raw()
		if shortest(raw) {
			return true
		}
		var room [32]byte
		f, _ := v.Float()
		return string(jsontext.AppendFloat(room[:0], f)) == string(raw)
	case jsonscan.String:
		inner, escapes := v.Escaped()
		return !escapes || frugal(inner)
	case jsonscan.Array:
		at := v.Offset() + 1
		e := v.Elements()
		for i := 0; e.Next(); i++ {
			if i > 0 {
				at++
			}
			if e.Value.Offset() != at || !settled(e.Value, known) {
				return false
			}
			at += e.Value.Len()
		}
		return at+1 == v.Offset()+v.Len()
	case jsonscan.Object:
		return settledObject(v, known)
	}
	return true
}

func settledObject(v jsonscan.Value, known int) bool {
	// The keys of small objects are compared with each other while they go by.
	const few = 8
	var (
		keys [few][]byte
		n    int
	)
	at := v.Offset() + 1
	m := v.Members()
	for m.Next() {
		if n > 0 {
			at++
		}
		// A name with escapes is shorter when it is decoded, so that it does not pass either.
		if at += len(m.Key) + len(`"":`); m.Value.Offset() != at {
			return false
		}
		switch raw := m.Value.Raw(); raw[0] {
		case 'n', 't', 'f':
		default:
			if !settled(m.Value, known) {
				return false
			}
		}
		at += m.Value.Len()
		if n < few {
			for _, key := range keys[:n] {
				if string(key) == string(m.Key) {
					return false
				}
			}
			keys[n] = m.Key
		}
		n++
	}
	return at+1 == v.Offset()+v.Len() && (n <= few || !Repeats(v))
}

// Repeats tells whether a key of an object is repeated in it; objects further inside are not looked at.
func Repeats(v jsonscan.Value) bool {
	const few = 12
	var (
		hashes [few]uint64
		n      int
		many   map[uint64]bool
	)
	m := v.Members()
	for m.Next() {
		h := maphash.Bytes(repeatSeed, m.Key)
		if many != nil {
			if many[h] {
				return repeatsExactly(v)
			}
			many[h] = true
			continue
		}
		for _, seen := range hashes[:n] {
			if seen == h {
				return repeatsExactly(v)
			}
		}
		if n < few {
			hashes[n] = h
			n++
			continue
		}
		many = make(map[uint64]bool, 4*few)
		for _, seen := range hashes {
			many[seen] = true
		}
		many[h] = true
	}
	return false
}

var repeatSeed = maphash.MakeSeed()

// repeatsExactly is Repeats where two keys have one hash.
func repeatsExactly(v jsonscan.Value) bool {
	seen := map[string]bool{}
	for m := v.Members(); m.Next(); {
		if seen[string(m.Key)] {
			return true
		}
		seen[string(m.Key)] = true
	}
	return false
}

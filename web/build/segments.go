package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// The linker leaves runs of zeros out of the data of a module, however short they are, and ends up with a hundred
// thousand segments. Their heads take more room than the zeros, which compress to nothing. join puts segments together
// that lie close to each other.

const (
	dataSection  = 11
	countSection = 12

	// widestGap is the longest run of zeros that is written out, in bytes.
	widestGap = 4 << 10
)

// segment is a piece of memory as a module begins.
type segment struct {
	at   uint32
	text []byte
}

// join gives a module with the same memory in fewer segments.
func join(module []byte) (joined []byte, segments int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errModule, r)
		}
	}()
	in := &code{b: module, at: 8}
	joined = append(joined, module[:8]...)
	for in.at < len(module) {
		from := in.at
		section, size := in.byte(), in.unsigned()
		content := in.take(size)
		switch section {
		case countSection:
			return nil, 0, fmt.Errorf("%w: its segments are counted", errModule)
		case dataSection:
			var data []byte
			data, segments = joinData(content)
			joined = binary.AppendUvarint(append(joined, dataSection), uint64(len(data)))
			joined = append(joined, data...)
		default:
			joined = append(joined, module[from:in.at]...)
		}
	}
	return joined, segments, nil
}

func joinData(content []byte) (data []byte, segments int) {
	in := &code{b: content}
	list := make([]segment, 0, 1<<16)
	for range in.unsigned() {
		if flag := in.byte(); flag != 0 {
			panic(fmt.Sprintf("a segment of kind %d", flag))
		}
		if op := in.byte(); op != opI32Const {
			panic(fmt.Sprintf("a segment at an expression that begins with %#x", op))
		}
		at := uint32(in.constant())
		if op := in.byte(); op != opEnd {
			panic(fmt.Sprintf("a segment at an expression that ends with %#x", op))
		}
		if text := in.take(in.unsigned()); len(text) > 0 {
			list = append(list, segment{at, text})
		}
	}
	slices.SortFunc(list, func(a, b segment) int { return cmp.Compare(a.at, b.at) })
	var (
		body  []byte // of all segments so far
		start uint32 // of the segment that is being put together
		bytes []byte // its content
	)
	end := func() {
		if len(bytes) == 0 {
			return
		}
		segments++
		body = append(appendSigned(append(body, 0, opI32Const), int64(int32(start))), opEnd)
		body = append(binary.AppendUvarint(body, uint64(len(bytes))), bytes...)
		bytes = bytes[:0]
	}
	for _, s := range list {
		last := start + uint32(len(bytes))
		if len(bytes) > 0 && s.at < last {
			panic(fmt.Sprintf("segments overlap at %d", s.at))
		}
		if len(bytes) == 0 || s.at-last > widestGap {
			end()
			start = s.at
		} else {
			bytes = append(bytes, make([]byte, s.at-last)...)
		}
		bytes = append(bytes, s.text...)
	}
	end()
	return append(binary.AppendUvarint(nil, uint64(segments)), body...), segments
}

// take reads so many bytes.
func (c *code) take(n int) []byte {
	if n > len(c.b)-c.at {
		panic("more bytes than there are")
	}
	c.at += n
	return c.b[c.at-n : c.at]
}

// constant reads a number as signed constants are written.
func (c *code) constant() (n int64) {
	for shift := 0; ; shift += 7 {
		b := c.byte()
		n |= int64(b&0x7F) << shift
		if b&0x80 == 0 {
			if shift += 7; b&0x40 != 0 && shift < 64 {
				n |= -1 << shift
			}
			return n
		}
		if shift > 35 {
			panic("a constant of too many bytes")
		}
	}
}

// appendSigned appends a number as signed constants are written.
func appendSigned(dst []byte, n int64) []byte {
	for {
		b := byte(n & 0x7F)
		n >>= 7
		if n == 0 && b&0x40 == 0 || n == -1 && b&0x40 != 0 {
			return append(dst, b)
		}
		dst = append(dst, b|0x80)
	}
}

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

	// largestGap is more than any module leaves between two segments.
	largestGap = 16 << 20
)

// segment is a piece of memory as a module begins.
type segment struct {
	at   uint32
	text []byte
}

// join gives a module with the same memory, or what edit makes of it, in fewer segments.
func join(module []byte, edit func(memory []byte) error) (joined []byte, segments int, err error) {
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
			if data, segments, err = joinData(content, edit); err != nil {
				return nil, 0, err
			}
			joined = binary.AppendUvarint(append(joined, dataSection), uint64(len(data)))
			joined = append(joined, data...)
		default:
			joined = append(joined, module[from:in.at]...)
		}
	}
	return joined, segments, nil
}

func joinData(content []byte, edit func([]byte) error) (data []byte, segments int, err error) {
	memory, start := imageOf(content)
	if err := edit(memory); err != nil {
		return nil, 0, err
	}
	var body []byte
	for at := 0; at < len(memory); {
		for at < len(memory) && memory[at] == 0 {
			at++
		}
		end, zeros := at, 0 // end is behind the last byte that is not zero
		for i := at; i < len(memory) && zeros <= widestGap; i++ {
			if zeros++; memory[i] != 0 {
				end, zeros = i+1, 0
			}
		}
		if end == at {
			break
		}
		segments++
		body = append(appendSigned(append(body, 0, opI32Const), int64(int32(start)+int32(at))), opEnd)
		body = append(binary.AppendUvarint(body, uint64(end-at)), memory[at:end]...)
		at = end
	}
	return append(binary.AppendUvarint(nil, uint64(segments)), body...), segments, nil
}

// imageOf gives the memory that the segments make, from the first byte of one on.
func imageOf(content []byte) (memory []byte, start uint32) {
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
	if len(list) == 0 {
		return nil, 0
	}
	slices.SortFunc(list, func(a, b segment) int { return cmp.Compare(a.at, b.at) })
	start = list[0].at
	for _, s := range list {
		last := start + uint32(len(memory))
		if s.at < last {
			panic(fmt.Sprintf("segments overlap at %d", s.at))
		}
		if s.at-last > largestGap {
			panic(fmt.Sprintf("nothing from %d to %d", last, s.at))
		}
		memory = append(append(memory, make([]byte, s.at-last)...), s.text...)
	}
	return memory, start
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

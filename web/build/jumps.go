package main

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// WebAssembly has no goto. The Go compiler therefore writes a function as one loop around nested blocks, with a jump
// table in front: a jump sets the number of its target and starts the loop anew. In the loops that read
// rows a good part of the time goes into that table. But a target that lies ahead is the end of a block that the jump
// is inside of, and can be left for directly. straighten rewrites such jumps, in place: what becomes shorter is
// filled up, so that nothing moves.

const (
	opUnreachable = 0x00
	opNop         = 0x01
	opBlock       = 0x02
	opLoop        = 0x03
	opIf          = 0x04
	opElse        = 0x05
	opEnd         = 0x0B
	opBr          = 0x0C
	opBrIf        = 0x0D
	opBrTable     = 0x0E
	opReturn      = 0x0F
	opCall        = 0x10
	opCallIndir   = 0x11
	opDrop        = 0x1A
	opSelect      = 0x1B
	opLocalGet    = 0x20
	opLocalSet    = 0x21
	opGlobalSet   = 0x24
	opLoadFirst   = 0x28
	opStoreLast   = 0x3E
	opMemorySize  = 0x3F
	opMemoryGrow  = 0x40
	opI32Const    = 0x41
	opI64Const    = 0x42
	opF32Const    = 0x43
	opF64Const    = 0x44
	opPlainFirst  = 0x45 // comparisons, arithmetic, conversions: no immediates
	opPlainLast   = 0xC4
	opMore        = 0xFC

	codeSection = 10
)

var errModule = errors.New("the module is not as the compiler writes it")

// straighten rewrites the jumps of a module in place and counts them. On an error the module is of no use.
func straighten(module []byte) (jumps int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errModule, r)
		}
	}()
	in := &code{b: module, at: 8}
	for in.at < len(module) {
		section, size := in.byte(), in.unsigned()
		if section != codeSection {
			in.at += size
			continue
		}
		for range in.unsigned() {
			size := in.unsigned()
			end := in.at + size
			for range in.unsigned() { // groups of locals
				in.unsigned()
				in.byte()
			}
			jumps += in.function(end)
		}
	}
	return jumps, nil
}

// tighten gives a module without the instructions that do nothing, such as those that straighten leaves behind.
func tighten(module []byte) (tight []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errModule, r)
		}
	}()
	in := &code{b: module, at: 8}
	tight = append(make([]byte, 0, len(module)), module[:8]...)
	for in.at < len(module) {
		from := in.at
		section, size := in.byte(), in.unsigned()
		if section != codeSection {
			in.take(size)
			tight = append(tight, module[from:in.at]...)
			continue
		}
		n := in.unsigned()
		list := binary.AppendUvarint(make([]byte, 0, size), uint64(n))
		var function []byte
		for range n {
			size := in.unsigned()
			at, end := in.at, in.at+size
			for range in.unsigned() { // groups of locals
				in.unsigned()
				in.byte()
			}
			in.nops = in.nops[:0]
			in.function(end)
			function = function[:0]
			for _, nop := range in.nops {
				function = append(function, module[at:nop]...)
				at = nop + 1
			}
			function = append(function, module[at:end]...)
			list = append(binary.AppendUvarint(list, uint64(len(function))), function...)
		}
		tight = append(binary.AppendUvarint(append(tight, codeSection), uint64(len(list))), list...)
	}
	return tight, nil
}

// code is a position in a module. Reading beyond its end panics.
type code struct {
	b    []byte
	at   int
	nops []int // where the last function has instructions that do nothing
}

func (c *code) byte() byte {
	c.at++
	return c.b[c.at-1]
}

func (c *code) unsigned() int {
	n, size := binary.Uvarint(c.b[c.at:])
	if size <= 0 {
		panic("a number")
	}
	c.at += size
	return int(n)
}

// signed reads a number of which only small ones that are not negative matter; others give −1.
func (c *code) signed() int {
	start := c.at
	for c.byte()&0x80 != 0 {
	}
	if last := c.b[c.at-1]; last&0x40 != 0 || c.at-start > 4 {
		return -1
	}
	n, _ := binary.Uvarint(c.b[start:c.at])
	return int(n)
}

// function rewrites the jumps of one function, whose instructions end at end.
func (c *code) function(end int) (jumps int) {
	var open []int   // the numbers of the blocks that are open, outermost first
	var target []int // number of the block behind whose end each target of the table lies
	blocks, loop := 1, -1
	open = append(open, 0)
	// The last two instructions, as far as a jump is made of them.
	const nothing, constant, set, get = 0, 1, 2, 3
	last, value, from := nothing, 0, 0
	for c.at < end {
		start := c.at
		before := last
		last = nothing
		switch op := c.byte(); {
		case op == opBlock, op == opLoop, op == opIf:
			c.byte() // the type, which has one byte as long as there is at most one result
			if op == opLoop && target == nil {
				loop = blocks
			}
			open = append(open, blocks)
			blocks++
		case op == opEnd:
			open = open[:len(open)-1]
		case op == opBr:
			depth := c.unsigned()
			if before != set || open[len(open)-1-depth] != loop || value < 0 || value >= len(target) {
				break
			}
			for up := range len(open) {
				if open[len(open)-1-up] == target[value] && target[value] > loop {
					jumps++
					b := append(c.b[from:from:c.at], opBr)
					b = binary.AppendUvarint(b, uint64(up))
					for i := from + len(b); i < c.at; i++ {
						c.b[i] = opNop
					}
					break
				}
			}
		case op == opBrIf, op == opCall:
			c.unsigned()
		case op == opBrTable:
			n := c.unsigned() + 1
			first := before == get && target == nil && loop > 0
			for range n {
				if up := c.unsigned(); first {
					target = append(target, open[len(open)-1-up])
				}
			}
		case op == opCallIndir:
			c.unsigned()
			c.unsigned()
		case op == opLocalGet:
			if c.unsigned() == 0 {
				last = get
			}
		case op == opLocalSet:
			if c.unsigned() == 0 && before == constant {
				last = set
			}
		case op > opLocalSet && op <= opGlobalSet:
			c.unsigned()
		case op >= opLoadFirst && op <= opStoreLast:
			c.unsigned()
			c.unsigned()
		case op == opMemorySize, op == opMemoryGrow:
			c.byte()
		case op == opI32Const:
			from, value = start, c.signed()
			last = constant
		case op == opI64Const:
			c.signed()
		case op == opF32Const:
			c.at += 4
		case op == opF64Const:
			c.at += 8
		case op == opMore:
			switch more := c.unsigned(); {
			case more < 8: // conversions
			case more == 10: // memory.copy
				c.at += 2
			case more == 11: // memory.fill
				c.at++
			default:
				panic(fmt.Sprintf("instruction FC %d", more))
			}
		case op == opNop:
			c.nops = append(c.nops, start)
		case op == opUnreachable, op == opElse, op == opReturn, op == opDrop, op == opSelect,
			op >= opPlainFirst && op <= opPlainLast:
		default:
			panic(fmt.Sprintf("instruction %x", op))
		}
	}
	if c.at != end || len(open) != 0 {
		panic("a function does not end where it should")
	}
	return jumps
}

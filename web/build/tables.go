package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The runtime keeps tables that give the file and the line of every instruction, and of every function that was
// written into another one. Only the printed stack of a crash reads them, and they are a fifteenth of what a page has
// to load. forget leaves them out: a stack then names functions, and "?" for their lines. What the runtime needs to walk
// the stack stays as it is. Nothing moves; zeros compress to nothing.

// The head of the runtime's table of functions, as Go releases since 1.20 write it for this architecture: the mark, the
// step of instructions and the size of a pointer.
var tableHead = []byte{0xF1, 0xFF, 0xFF, 0xFF, 0, 0, 1, 8}

// Places in the head behind the mark, and in the entry of a function, in bytes.
const (
	headFunctions = 8 // how many, then: files, start of code, and where names, units, files, tables and functions begin
	headUnits     = headFunctions + 4*8
	headFiles     = headFunctions + 5*8
	headTables    = headFunctions + 6*8
	headEntries   = headFunctions + 7*8
	headSize      = headFunctions + 8*8

	entryDepth   = 16 // table of the depth of the stack
	entryFile    = 20 // table of files
	entryLine    = 24 // table of lines
	entryTables  = 28 // how many more tables
	entryFirst   = 36 // line of the declaration
	entrySize    = 44
	tableInlined = 2 // of the further tables: which function was written in here
	tableAlive   = 3 // which arguments are still worth printing
)

// forget takes the lines out of memory as a module begins and gives the bytes that nothing needs any more.
func forget(memory []byte) (forgotten int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: table of functions: %v", errModule, r)
		}
	}()
	at := bytes.Index(memory, tableHead)
	if at < 0 || bytes.Contains(memory[at+1:], tableHead) {
		return 0, fmt.Errorf("%w: there is not one table of functions", errModule)
	}
	table := memory[at:]
	word := func(b []byte, at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	functions, units, files := word(table, headFunctions), word(table, headUnits), word(table, headFiles)
	tables, entries := word(table, headTables), word(table, headEntries)
	if !(headSize <= units && units <= files && files <= tables && tables < entries) {
		return 0, fmt.Errorf("%w: the parts of the table of functions are not in order", errModule)
	}
	numbers := table[tables:entries]
	needed := make([]bool, len(numbers))
	needed[0] = true // where there is no table
	list := table[entries:]
	for i := range functions {
		entry := list[word(list, 8*i+4):]
		further := word(entry, entryTables)
		for _, place := range []int{entryFile, entryLine, entryFirst, entrySize + 4*tableInlined, entrySize + 4*tableAlive} {
			if place < entrySize+4*further {
				binary.LittleEndian.PutUint32(entry[place:], 0)
			}
		}
		keep(numbers, needed, word(entry, entryDepth))
		for n := range further {
			keep(numbers, needed, word(entry, entrySize+4*n))
		}
	}
	for i := range numbers {
		if !needed[i] {
			numbers[i] = 0
			forgotten++
		}
	}
	clear(table[units:tables]) // names of files and which unit has which
	return forgotten + tables - units, nil
}

// keep marks the bytes of one table: steps of a value and of a place, until a value makes none.
func keep(numbers []byte, needed []bool, at int) {
	if at == 0 || needed[at] {
		return
	}
	for first := true; ; first = false {
		value, n := binary.Uvarint(numbers[at:])
		if n <= 0 {
			panic("a table that does not end")
		}
		for range n {
			needed[at] = true
			at++
		}
		if value == 0 && !first {
			return
		}
		_, n = binary.Uvarint(numbers[at:])
		if n <= 0 {
			panic("a table that does not end")
		}
		for range n {
			needed[at] = true
			at++
		}
	}
}

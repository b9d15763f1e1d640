// Package packed unpacks gzip files: those of several members, empty ones among them, and those with zero bytes
// behind the last member, as tapes and block stores leave them.
//
// A packed file is read in order. Its *plain* bytes are those it stands for, and every offset that the rest of the
// program speaks of counts plain bytes. How many there are is known at the end. Where a member begins, reading can
// begin anew: a [Member] is such a place, and to read one row later a reader starts at the last one in front of it.
//
// A file may end early or be damaged. What was read up to there stands, and a [Damage] says where it stops.
// Bytes that do not begin as gzip does are no damage: a file keeps its .gz when a browser has unpacked it on its
// way to the disk, so they are given as they are.
//
// Bytes are pulled from an io.Reader ([NewReader]), or pushed as they come ([Feeder]), which is how the page works:
// there nobody may wait for a file.
package packed

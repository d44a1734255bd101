package object

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
)

// A pack is
//
//	magic, pieces back to back, one row per piece sorted by id, footer
//
// where a row is the id, where the piece begins, how long it is in the pack and
// how long when unpacked. A piece whose lengths are equal is stored as it is.
const (
	magic     = "harness\x01"
	rowSize   = 32 + 8 + 4 + 4
	footSize  = 8 + 4 + 4 + len(magic)
	maxPiece  = 1 << 31 // lengths fit their columns
	packLimit = 64 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// row says where a piece is.
type row struct {
	id     ID
	at     int64
	packed uint32
	size   uint32
}

func appendRow(b []byte, r row) []byte {
	b = append(b, r.id[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.at))
	b = binary.LittleEndian.AppendUint32(b, r.packed)
	return binary.LittleEndian.AppendUint32(b, r.size)
}

func readRow(b []byte) row {
	return row{ID(b[:32]), int64(binary.LittleEndian.Uint64(b[32:])), binary.LittleEndian.Uint32(b[40:]), binary.LittleEndian.Uint32(b[44:])}
}

// table encodes the rows and the footer of a pack whose pieces end at end.
func table(rows []row, end int64) []byte {
	slices.SortFunc(rows, func(a, b row) int { return bytes.Compare(a.id[:], b.id[:]) })
	b := make([]byte, 0, len(rows)*rowSize+footSize)
	for _, r := range rows {
		b = appendRow(b, r)
	}
	sum := crc32.Checksum(b, castagnoli)
	b = binary.LittleEndian.AppendUint64(b, uint64(end))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(rows)))
	b = binary.LittleEndian.AppendUint32(b, sum)
	return append(b, magic...)
}

// packFile is where a pack is read from.
type packFile interface {
	io.ReaderAt
	io.Closer
}

// pack is a finished pack, open for reading.
type pack struct {
	name string
	file packFile
	size int64
	rows []byte
}

func openPack(path, name string) (*pack, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p, err := readPack(f, name)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("pack %s: %w", name, err)
	}
	return p, nil
}

// readPack reads the table and checks it; the pieces are checked when read.
func readPack(f *os.File, name string) (*pack, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readTable(f, info.Size(), name)
}

func readTable(f packFile, size int64, name string) (*pack, error) {
	if size < int64(len(magic)+footSize) {
		return nil, ErrDamaged
	}
	foot := make([]byte, footSize)
	if _, err := f.ReadAt(foot, size-int64(footSize)); err != nil {
		return nil, err
	}
	end, count := int64(binary.LittleEndian.Uint64(foot)), int64(binary.LittleEndian.Uint32(foot[8:]))
	if string(foot[16:]) != magic || end < int64(len(magic)) || end > size || size-int64(footSize)-end != count*rowSize {
		return nil, ErrDamaged
	}
	rows := make([]byte, count*rowSize)
	if _, err := f.ReadAt(rows, end); err != nil {
		return nil, err
	}
	if crc32.Checksum(rows, castagnoli) != binary.LittleEndian.Uint32(foot[12:]) {
		return nil, ErrDamaged
	}
	return &pack{name, f, size, rows}, nil
}

func (p *pack) count() int    { return len(p.rows) / rowSize }
func (p *pack) row(i int) row { return readRow(p.rows[i*rowSize:]) }

// find looks the piece up.
func (p *pack) find(id ID) (row, bool) {
	lo, hi := 0, p.count()
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := bytes.Compare(p.rows[mid*rowSize:mid*rowSize+32], id[:]); {
		case c == 0:
			return p.row(mid), true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return row{}, false
}

// stored returns the piece as it is in the pack.
func (p *pack) stored(r row) ([]byte, error) {
	if r.at < int64(len(magic)) || r.at+int64(r.packed) > p.size {
		return nil, fmt.Errorf("pack %s: %w", p.name, ErrDamaged)
	}
	b := make([]byte, r.packed)
	if _, err := p.file.ReadAt(b, r.at); err != nil {
		return nil, fmt.Errorf("pack %s: %w", p.name, err)
	}
	return b, nil
}

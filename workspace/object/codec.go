package object

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// minPacked is the length below which packing does not pay for itself.
const minPacked = 256

// codec packs and unpacks pieces. Its halves are made when they are first
// needed: a snapshot without changes needs neither.
type codec struct {
	encoder func() *zstd.Encoder
	decoder func() *zstd.Decoder
}

func newCodec(workers int) codec {
	return codec{
		encoder: sync.OnceValue(func() *zstd.Encoder {
			e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(workers),
				zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<20), zstd.WithSingleSegment(true))
			if err != nil {
				panic("object: zstd options: " + err.Error())
			}
			return e
		}),
		decoder: sync.OnceValue(func() *zstd.Decoder {
			d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(workers), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxPiece))
			if err != nil {
				panic("object: zstd options: " + err.Error())
			}
			return d
		}),
	}
}

// pack returns data or a shorter form of it.
func (c *codec) pack(data, scratch []byte) []byte {
	if len(data) < minPacked {
		return data
	}
	if b := c.encoder().EncodeAll(data, scratch[:0]); len(b) < len(data)-len(data)/16 {
		return b
	}
	return data
}

// unpack undoes pack for a piece of the given length.
func (c *codec) unpack(stored []byte, size int) ([]byte, error) {
	if len(stored) == size {
		return stored, nil
	}
	b, err := c.decoder().DecodeAll(stored, make([]byte, 0, size))
	if err != nil || len(b) != size {
		return nil, ErrDamaged
	}
	return b, nil
}

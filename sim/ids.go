package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Seed is where everything that looks random comes from: the same seed and the same calls give the same world.
type Seed uint64

// Hex is n hexadecimal digits (at most 64) that depend on the seed and the parts alone.
func (s Seed) Hex(n int, parts ...any) string {
	sum := s.sum(parts)
	return hex.EncodeToString(sum[:])[:n]
}

// Chance is a number of [0,1) that depends on the seed and the parts alone.
func (s Seed) Chance(parts ...any) float64 {
	sum := s.sum(parts)
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

func (s Seed) sum(parts []any) [sha256.Size]byte {
	return sha256.Sum256(fmt.Append(nil, append([]any{uint64(s), "|"}, parts...)...))
}

// UUID is an identifier in the usual form of request IDs.
func (s Seed) UUID(parts ...any) string {
	h := s.Hex(32, parts...)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

package checksum

import (
	"crypto/sha256"
	"math"
	"testing"
	"time"
)

// BenchmarkHash hashes a megabyte with this package and with crypto/sha256 by turns, and gives the best speed of each
// in MB/s: what else runs on the machine then slows both alike. Natively crypto/sha256 is assembly.
func BenchmarkHash(b *testing.B) {
	const piece = 64 << 10 // about what a browser's stream delivers
	stream := randomBytes(7, 1<<20)
	var own Hash
	std := sha256.New()
	ownBest, stdBest := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		for at := 0; at < len(stream); at += piece {
			own.Write(stream[at : at+piece])
		}
		between := time.Now()
		for at := 0; at < len(stream); at += piece {
			std.Write(stream[at : at+piece])
		}
		ownBest, stdBest = min(ownBest, between.Sub(start)), min(stdBest, time.Since(between))
	}
	speed := func(d time.Duration) float64 { return float64(len(stream)) / 1e6 / max(d, 1).Seconds() }
	b.ReportMetric(speed(ownBest), "own-MB/s")
	b.ReportMetric(speed(stdBest), "std-MB/s")
	b.ReportMetric(speed(ownBest)/speed(stdBest), "own/std")
}

// BenchmarkShort hashes a message of one block.
func BenchmarkShort(b *testing.B) {
	message := randomBytes(8, 55)
	b.ReportAllocs()
	for b.Loop() {
		var h Hash
		h.Write(message)
		h.Sum()
	}
}

package quantity

import "testing"

func TestQuantities(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Number(0), "0"}, {Number(999), "999"}, {Number(1000), "1,000"}, {Number(-1234567), "-1,234,567"}, {Number(uint64(1<<64 - 1)), "18,446,744,073,709,551,615"},
		{Bytes(0), "0 bytes"}, {Bytes(1), "1 byte"}, {Bytes(999), "999 bytes"}, {Bytes(1000), "1 kB"}, {Bytes(int64(1234567)), "1.23 MB"},
		{Bytes(999499), "999 kB"}, {Bytes(999500), "1 MB"}, {Bytes(uint64(5e12)), "5 TB"}, {Bytes(uint64(123456e9)), "123 TB"}, {Bytes(uint64(1<<64 - 1)), "18.4 EB"},
		{Count(1, "frame", "frames"), "1 frame"}, {Count(2000, "frame", "frames"), "2,000 frames"}, {Count(uint64(0), "frame", "frames"), "0 frames"},
		{Share(0, 0), "–"}, {Share(5, 5), "100 %"}, {Share(0, 5), "0 %"}, {Share(1, 3), "33.3 %"}, {Share(99999, 100000), "99.9 %"}, {Share(1, 100000), "0.1 %"},
		{Seconds(0), "0 ms"}, {Seconds(0.0123), "12 ms"}, {Seconds(0.9996), "1.0 s"}, {Seconds(1.26), "1.3 s"}, {Seconds(99.96), "100 s"}, {Seconds(119.4), "119 s"},
		{Seconds(119.6), "2 min 0 s"}, {Seconds(123.4), "2 min 3 s"}, {Seconds(3599.9), "1 h 0 min"}, {Seconds(12360), "3 h 26 min"}, {Seconds(86400 * 1234), "1,234 d 0 h"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package envelope

import (
	"strings"
)

// bech32Digits are the digits of Bech32, by value.
const bech32Digits = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

// bech32Sum is the number of digits of its checksum.
const bech32Sum = 6

// encodeBech32 returns bytes as a text that begins with a prefix and the digit 1, in lower case,
// with a checksum at its end. Texts are longer than those of bitcoin, as are those of age.
func encodeBech32(prefix string, content []byte) string {
	digits := regroup(content, 8, 5)
	sum := bech32Remainder(prefix, append(digits[:len(digits):len(digits)], make([]byte, bech32Sum)...)) ^ 1
	for i := range bech32Sum {
		digits = append(digits, byte(sum>>(5*(bech32Sum-1-i)))&31)
	}
	var text strings.Builder
	text.WriteString(prefix + "1")
	for _, digit := range digits {
		text.WriteByte(bech32Digits[digit])
	}
	return text.String()
}

// decodeBech32 is the inverse of encodeBech32. Other texts are not ok.
func decodeBech32(prefix, text string) (content []byte, ok bool) {
	rest, ok := strings.CutPrefix(text, prefix+"1")
	if !ok || len(rest) < bech32Sum {
		return nil, false
	}
	digits := make([]byte, len(rest))
	for i := range digits {
		value := strings.IndexByte(bech32Digits, rest[i])
		if value < 0 {
			return nil, false
		}
		digits[i] = byte(value)
	}
	if bech32Remainder(prefix, digits) != 1 {
		return nil, false
	}
	digits = digits[:len(digits)-bech32Sum]
	content = regroup(digits, 5, 8)[:len(digits)*5/8]
	return content, encodeBech32(prefix, content) == text // else it ends with digits that mean nothing
}

// regroup returns the bits of groups in groups of another size, the last one filled with zeros.
func regroup(groups []byte, from, to int) []byte {
	var regrouped []byte
	var bits uint32
	pending := 0
	for _, group := range groups {
		bits = bits<<from | uint32(group)
		for pending += from; pending >= to; {
			pending -= to
			regrouped = append(regrouped, byte(bits>>pending&(1<<to-1)))
		}
	}
	if pending > 0 {
		regrouped = append(regrouped, byte(bits<<(to-pending)&(1<<to-1)))
	}
	return regrouped
}

// bech32Remainder returns the remainder of a prefix and digits by the generator of Bech32, which is
// 1 where the last digits are a checksum.
func bech32Remainder(prefix string, digits []byte) uint32 {
	generator := [5]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3}
	remainder := uint32(1)
	add := func(digit byte) {
		top := remainder >> 25
		remainder = remainder&0x1ffffff<<5 ^ uint32(digit)
		for i, value := range generator {
			if top>>i&1 == 1 {
				remainder ^= value
			}
		}
	}
	for i := range len(prefix) {
		add(prefix[i] >> 5)
	}
	add(0)
	for i := range len(prefix) {
		add(prefix[i] & 31)
	}
	for _, digit := range digits {
		add(digit)
	}
	return remainder
}

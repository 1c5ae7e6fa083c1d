// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package envelope

import (
	"encoding/base64"
	"testing"
)

// Keys that were made for these tests, and what the first version has made with them.
const (
	keptPoolKey   = `AGE-SECRET-KEY-18PERLPQ227SKFJQ94QZ5YK78CJ3YN9Q66A0G3NU8ZGFCXDWY7R7QHW80X5`
	keptRunKey    = `CAIRN-RUN-KEY-1ZJN507M2SNGRN3UN9GZ8KEZ30PDCZZZAYMHCQK4XFH79XCM3QSQQTURG3V`
	keptPublic    = `cairn-run1hchtdfmadp0dafh35awdr8she0rm4dquqln8nl9dpjcp2lgr298t56kx3r6gwk9qxcl5u8kdk690dcdnqsrkncpdlrar2jqa2acvgpselht80`
	keptSignature = `0HI7lLBRXyQePacvLeKtFKF/6nq9W3UoO1LSzlM1Y8p6Ottc0XAlBwu2BpB/Ry7dM4sdfWMIDBx4mnubyaU1Dw==`
	keptEnvelope  = `Y2Fpcm4tc2VhbGVkLTEgMWUzYTE5ZmE0YTNiZGU0OThkNzRhZGFlYzA2NWMxMTM3N2Q3ODg5YTNlNGQ5NWM3NDllNTA1MjA0ODc5ODc4MgphZ2UtZW5jcnlwdGlvbi5vcmcvdjEKLT4gWDI1NTE5IFhFQndwWlBMNWp0UURqQ254TlVuaE1PYWNWT2ozOUpFUmFmUklTMlpSMmMKYjMrc2VyQVcrQkFoT0o4SWFEVGFyOFhhMmtudGhyb20zWHJzNTFFZkFzYwotLS0gU3YxVGVsSjJla2FtZ01scGo3b3NBVnFLbEZLOXQyc3YvZGI0azJCbGtYZwrbPpseibKrwGqdDGErOUKv7VNSZpyasBy85uEAH8nIxkZvV0K43kQGFqGN50g55TbAGAmad10AvO4Ht4+wX585/Eo7gSoHD0B94A==`
	keptResult    = `Y2Fpcm4tcmVzdWx0LTEgYzIwZDhhNzU5YjE4OWU4YWIyNjQ5NThmYjFkMDJjZjM1Y2ViYWRkZDBjZjViNDhiOTk4YjAxMmMzNmIzMWRlMwphZ2UtZW5jcnlwdGlvbi5vcmcvdjEKLT4gY2Fpcm4tcmVzdWx0IC92ck1PRE5hdmExSG1idE5lQUdMTTRhNDViY2xZTTNzTVlJMDkreGNwencgblJvSFhzczBzbGsvMkw2ZGhFUnNFMWd4SXc4UFR5L0Yxd1FnYjlNVUdoTQp2MWhzZmtsVENWUVVyUHF6OVJEd1ZJL0JtbzdpSHhrVnNuNXZhaFE0OFNNCi0tLSBUSnNyRDBoaHB5WkVhbFlzc0l3NkhENlVjNDlHRysvQm1YbGtCeHhrY1BVCgXlwWessum5ywSHMTBSdL5iXaYeK7onWWaXtbvjXOayJIYXfzHhBiLW6x/vWSCrIInnZoEQRTVATuJFyrDnWQzQtDT5Jxmpml0=`
)

func decode(t testing.TB, text string) []byte {
	t.Helper()
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

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
	keptPublic    = `cairn-run18nuphzl2xldw46w5rtledhl4qwr5xdvm393dltgt2qxjwuslwu95e2hascf4zwm4p9vpz8zefdfy56ka7gy9m40smuuerdccz83neuq9c4crf`
	keptSignature = `pPFuSeYEIvYrxniZN8rUIH6qvVx99tl2yE5N255lSsG7ze4QoGtjuSC5y6kzd6N1iPpb1ZjbAOESAKj0nbbmCw==`
	keptEnvelope  = `Y2Fpcm4tc2VhbGVkLTEgMWUzYTE5ZmE0YTNiZGU0OThkNzRhZGFlYzA2NWMxMTM3N2Q3ODg5YTNlNGQ5NWM3NDllNTA1MjA0ODc5ODc4MgphZ2UtZW5jcnlwdGlvbi5vcmcvdjEKLT4gWDI1NTE5IFhFQndwWlBMNWp0UURqQ254TlVuaE1PYWNWT2ozOUpFUmFmUklTMlpSMmMKYjMrc2VyQVcrQkFoT0o4SWFEVGFyOFhhMmtudGhyb20zWHJzNTFFZkFzYwotLS0gU3YxVGVsSjJla2FtZ01scGo3b3NBVnFLbEZLOXQyc3YvZGI0azJCbGtYZwrbPpseibKrwGqdDGErOUKv7VNSZpyasBy85uEAH8nIxkZvV0K43kQGFqGN50g55TbAGAmad10AvO4Ht4+wX585/Eo7gSoHD0B94A==`
	keptResult    = `Y2Fpcm4tcmVzdWx0LTEgY2FiZjNlYTU4ZWRlMTkwZTM4MmE4ZjM2ZjIwNTc0NzdiMDZkOTg0YTY0ZTk0ZWM4ZjUwOWJkZTlkMDc1YzA3NwphZ2UtZW5jcnlwdGlvbi5vcmcvdjEKLT4gWDI1NTE5IEhMMnVnOURsMW9KdVcwdXlONFA5K3QzdktGRmVzV1ZpSFhYdFZnZkxDbWcKWE5ndzRBbnFPU01BSFV4TjVFaGRseEMzWFBBK2luVmtjWkFobGdRNnE2OAotLS0gRkpVMUFkallUTlNoenZERVBMMVVadEljbTJVUWU2ampOeXlKdURWdi81ZwotaI8/KBg7+E5mIv7ljeu3zZ0TtWOza7GRTOghESXoYtDz++kxdOyeR4UbQ8oeysyzrBUoA26XWwswTUYhNUESj0y1WFM0ihL/pJ9bneix1+ZtNSblLcpmdBonJvukUp8eYxx1ZTR72yc=`
)

func decode(t testing.TB, text string) []byte {
	t.Helper()
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

package specs

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// TestScalewayRequest shows that the check notices what is wrong with a request, and accepts what is right.
func TestScalewayRequest(t *testing.T) {
	t.Parallel()
	const region = "/k8s/v1/regions/fr-par"
	const pools = region + "/clusters/c/pools"
	for _, row := range []struct{ method, path, body, want string }{
		{"POST", pools, `{"name":"p","node_type":"pro2_xxs","size":1,"labels":{"a":"b"},"taints":null,"upgrade_policy":{"max_surge":null}}`, ""},
		{"POST", pools, `{"name":"p","size":1}`, "the member node_type is needed"},
		{"POST", pools, `{"name":"p","node_type":"a","size":"1"}`, "1 at size is not of kind int"},
		{"POST", pools, `{"name":"p","node_type":"a","size":1,"spot":true}`, "no member spot"},
		{"POST", pools, `{"name":"p","node_type":"a","size":1,"taints":[{"key":"a","effect":"Never"}]}`, "Never at taints[0].effect"},
		{"PATCH", region + "/pools/p", `{"labels":{}}`, "no member labels"},
		{"GET", pools + "?page=1&page_size=100", "", ""},
		{"GET", pools + "?pool_id=p", "", "has no parameter pool_id"},
		{"DELETE", region + "/nodes/n", "", "needs the parameter skip_drain"},
		{"POST", region + "/nodes/n/replace", "{}", "no operation is published"},
	} {
		err := Scaleway().Request(httptest.NewRequest(row.method, row.path, nil), row.body)
		if got := ""; err != nil {
			got = err.Error()
			if row.want == "" || !strings.Contains(got, row.want) {
				t.Errorf("%s %s %s: want %q, got %q", row.method, row.path, row.body, row.want, got)
			}
		} else if row.want != "" {
			t.Errorf("%s %s %s: want %q, got none", row.method, row.path, row.body, row.want)
		}
	}
}

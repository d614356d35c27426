package prometheus

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/kube/policy/gates"
)

func TestParse(t *testing.T) {
	t.Parallel()
	success := func(kind, result string) string {
		return `{"status":"success","data":{"resultType":"` + kind + `","result":` + result + `}}`
	}
	for _, c := range []struct {
		why, body, wrong string
		want             []gates.Series
	}{
		{why: "a scalar", body: success("scalar", `[1700000000.5,"0.25"]`), want: []gates.Series{{Value: 0.25}}},
		{why: "no sample", body: success("vector", `[]`), want: []gates.Series{}},
		{why: "a sample", body: success("vector", `[{"metric":{"job":"a"},"value":[1,"7"]}]`),
			want: []gates.Series{{Metric: map[string]string{"job": "a"}, Value: 7}}},
		{why: "several", body: success("vector", `[{"metric":{"job":"a"},"value":[1,"7"]},{"metric":{"job":"b"},"value":[1,"+Inf"]}]`),
			want: []gates.Series{{Metric: map[string]string{"job": "a"}, Value: 7}, {Metric: map[string]string{"job": "b"}, Value: math.Inf(1)}}},
		{why: "a number beyond a float's range", body: success("scalar", `[1,"1e999"]`), want: []gates.Series{{Value: math.Inf(1)}}},
		{why: "a range", body: success("matrix", `[]`), wrong: `returns a "matrix"`},
		{why: "a text", body: success("string", `[1,"x"]`), wrong: `returns a "string"`},
		{why: "a histogram", body: success("vector", `[{"metric":{},"histogram":[1,{"count":"3"}]}]`), wrong: "something else than numbers"},
		{why: "a number without quotes", body: success("scalar", `[1,2]`), wrong: "something else than numbers"},
		{why: "a text in a number's place", body: success("scalar", `[1,"many"]`), wrong: "something else than numbers"},
		{why: "no scalar", body: success("scalar", `null`), wrong: "something else than numbers"},
		{why: "a vector of another form", body: success("vector", `{"a":1}`), wrong: "something else than numbers"},
		{why: "a result that may be incomplete", body: `{"status":"success","warnings":["store b is down"],"data":{"resultType":"vector","result":[]}}`,
			wrong: "store b is down"},
		{why: "an error with status 200", body: `{"status":"error","errorType":"timeout","error":"query timed out"}`, wrong: "timeout: query timed out"},
		{why: "too many series", body: success("vector", `[`+strings.Repeat(`{"metric":{},"value":[1,"1"]},`, MaxSeries)+`{"metric":{},"value":[1,"1"]}]`),
			wrong: "1001 series"},
		{why: "two documents", body: success("vector", `[]`) + success("vector", `[]`), wrong: "not that of Prometheus"},
		{why: "nothing", body: ``, wrong: "not that of Prometheus"},
	} {
		got, err := parse(http.StatusOK, []byte(c.body), texts{})
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: want error %q, got %v", c.why, c.wrong, err)
		}
		if !slices.EqualFunc(got, c.want, func(a, b gates.Series) bool { return a.Value == b.Value && a.Metric["job"] == b.Metric["job"] }) {
			t.Errorf("%s: want %v, got %v", c.why, c.want, got)
		}
	}
	if got, err := parse(http.StatusOK, []byte(success("vector", `[{"metric":{},"value":[1,"NaN"]}]`)), texts{}); err != nil || len(got) != 1 ||
		!math.IsNaN(got[0].Value) {
		t.Errorf("want NaN as the server has it, got %v, %v", got, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(200, []byte(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":"b"},"value":[1,"7"]}]}}`))
	f.Add(400, []byte(`{"status":"error","errorType":"bad_data","error":"x"}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		series, err := parse(status, body, texts{})
		if err != nil && (len(series) > 0 || strings.ContainsAny(err.Error(), "\n\x1b\x00")) {
			t.Errorf("want no series and one clean line, got %v, %q", series, err)
		}
		if err == nil && (status != http.StatusOK || len(series) > MaxSeries) {
			t.Errorf("status %d: want an error, got %d series", status, len(series))
		}
	})
}

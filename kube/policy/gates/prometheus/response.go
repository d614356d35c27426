package prometheus

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/muster-project/muster/kube/policy/gates"
)

// MaxSeries is the number of series of the largest result.
const MaxSeries = 1000

// response is a response of the API.
type response struct {
	Status    string   `json:"status"`
	ErrorType string   `json:"errorType"`
	Error     string   `json:"error"`
	Warnings  []string `json:"warnings"`
	Data      struct {
		ResultType string          `json:"resultType"`
		Result     json.RawMessage `json:"result"`
	} `json:"data"`
}

// point is a time and a number in a string.
type point [2]json.RawMessage

// vector is a result of the type vector. A histogram has no value.
type vector []struct {
	Metric map[string]string `json:"metric"`
	Value  *point            `json:"value"`
}

// parse returns the samples of a response. A result that may be incomplete, because the server warns, is an error.
func parse(status int, body []byte, t texts) ([]gates.Series, error) {
	var r response
	wrong := json.Unmarshal(body, &r)
	switch {
	case status != http.StatusOK:
		return nil, refusal(status, r, wrong, t)
	case wrong != nil || r.Status == "":
		return nil, errors.New("the response is not that of Prometheus's API: look at the path of the address")
	case r.Status != "success":
		return nil, fmt.Errorf("the server reports %s: %s", t.clean(r.ErrorType), t.clean(r.Error))
	case len(r.Warnings) > 0:
		return nil, fmt.Errorf("the server warns, so that the result may be incomplete: %s", t.clean(r.Warnings[0]))
	}
	switch r.Data.ResultType {
	case "scalar":
		return scalar(r.Data.Result)
	case "vector":
		return samples(r.Data.Result)
	default:
		return nil, fmt.Errorf("want a vector or a scalar, the query returns a %q", t.clean(r.Data.ResultType))
	}
}

var errNoNumbers = errors.New("the result has something else than numbers")

func scalar(result json.RawMessage) ([]gates.Series, error) {
	var p *point
	if err := json.Unmarshal(result, &p); err != nil || p == nil {
		return nil, errNoNumbers
	}
	value, err := p.number()
	if err != nil {
		return nil, err
	}
	return []gates.Series{{Value: value}}, nil
}

func samples(result json.RawMessage) ([]gates.Series, error) {
	var all vector
	if err := json.Unmarshal(result, &all); err != nil {
		return nil, errNoNumbers
	}
	if len(all) > MaxSeries {
		return nil, fmt.Errorf("the result has %d series, more than %d: aggregate in the query", len(all), MaxSeries)
	}
	series := make([]gates.Series, 0, len(all))
	for _, one := range all {
		if one.Value == nil {
			return nil, errNoNumbers
		}
		value, err := one.Value.number()
		if err != nil {
			return nil, err
		}
		series = append(series, gates.Series{Metric: one.Metric, Value: value})
	}
	return series, nil
}

// number returns the value of a point, which Prometheus writes as a string: also NaN, +Inf and -Inf.
func (p point) number() (float64, error) {
	var text string
	if err := json.Unmarshal(p[1], &text); err != nil {
		return 0, errNoNumbers
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, errNoNumbers
	}
	return value, nil
}

// refusal returns the error of a status other than 200. Of the body it holds the fields of the API alone.
func refusal(status int, r response, wrong error, t texts) error {
	switch {
	case status >= 300 && status < 400:
		return fmt.Errorf("the server redirects (status %d), which is not followed: name the address that it redirects to", status)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("the server refuses the credentials (status %d): put a valid token into key %s of the Secret", status,
			gates.SecretToken)
	case wrong == nil && r.Error != "":
		return fmt.Errorf("status %d, %s: %s", status, t.clean(r.ErrorType), t.clean(r.Error))
	default:
		return fmt.Errorf("the server responds with status %d", status)
	}
}

package iam

import (
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/aws/wire"
)

// operators compare a value of the request with one of the policy.
var operators = map[string]func(have, want string) bool{
	"StringEquals":           func(have, want string) bool { return have == want },
	"StringEqualsIgnoreCase": strings.EqualFold,
	"StringLike":             func(have, want string) bool { return wire.Glob(want, have) },
	"ArnEquals":              func(have, want string) bool { return wire.Glob(want, have) },
	"ArnLike":                func(have, want string) bool { return wire.Glob(want, have) },
	"Bool":                   strings.EqualFold,
	"NumericEquals":          numbers(func(a, b float64) bool { return a == b }),
	"NumericLessThan":        numbers(func(a, b float64) bool { return a < b }),
	"NumericLessThanEquals":  numbers(func(a, b float64) bool { return a <= b }),
	"NumericGreaterThan":     numbers(func(a, b float64) bool { return a > b }),
	"NumericGreaterThanEquals": numbers(func(a, b float64) bool {
		return a >= b
	}),
}

// negated are the operators that hold where another does not.
var negated = map[string]string{
	"StringNotEquals": "StringEquals", "StringNotEqualsIgnoreCase": "StringEqualsIgnoreCase", "StringNotLike": "StringLike",
	"ArnNotEquals": "ArnEquals", "ArnNotLike": "ArnLike", "NumericNotEquals": "NumericEquals",
}

func numbers(compare func(a, b float64) bool) func(have, want string) bool {
	return func(have, want string) bool {
		a, errA := strconv.ParseFloat(have, 64)
		b, errB := strconv.ParseFloat(want, 64)
		return errA == nil && errB == nil && compare(a, b)
	}
}

// The operator that asks whether a key is there, the words before one that is about several values, and that behind one that
// holds where the key is not there.
const (
	nullOperator          = "Null"
	allValues, anyValue   = "ForAllValues:", "ForAnyValue:"
	ifExists              = "IfExists"
	nullWanted, nullFalse = "true", "false"
)

func knownOperator(name string) bool {
	bare := bareOperator(name)
	return bare == nullOperator || operators[bare] != nil || negated[bare] != ""
}

func bareOperator(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, allValues), anyValue), ifExists)
}

// holds reports that all conditions of the statement are met.
func (s Statement) holds(context map[string][]string) bool {
	for operator, keys := range s.Conditions {
		for key, want := range keys {
			if !holds(operator, lookUp(context, key), want, context) {
				return false
			}
		}
	}
	return true
}

// lookUp is the value of a key, whose name is the same in any case; nil where it has none. The part behind a slash, a tag's key,
// is taken as it stands.
func lookUp(context map[string][]string, key string) []string {
	if v, ok := context[key]; ok {
		return v
	}
	for k, v := range context {
		if strings.EqualFold(k, key) {
			return v
		}
	}
	return nil
}

func holds(name string, have, want []string, context map[string][]string) bool {
	bare := bareOperator(name)
	if bare == nullOperator {
		return slices.Contains(want, nullWanted) && len(have) == 0 || slices.Contains(want, nullFalse) && len(have) > 0
	}
	if len(have) == 0 {
		// A key that is not there fails what must be equal, and passes what must not be.
		return strings.HasSuffix(name, ifExists) || strings.HasPrefix(name, allValues) || negated[bare] != "" &&
			!strings.HasPrefix(name, anyValue)
	}
	one := func(value string) bool {
		compare, not := operators[bare], false
		if positive := negated[bare]; positive != "" {
			compare, not = operators[positive], true
		}
		return slices.ContainsFunc(want, func(w string) bool { return compare(value, filled(w, context)) }) != not
	}
	if strings.HasPrefix(name, anyValue) {
		return slices.ContainsFunc(have, one)
	}
	return !slices.ContainsFunc(have, func(value string) bool { return !one(value) })
}

// Package success decides whether the result of a query lets a rollout go on, by an expression in CEL that a policy's author writes. The
// language is bounded: what a policy can have the manager compute is small in time and in memory.
package success

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"

	"github.com/muster-project/muster/kube/policy/gates"
)

const (
	// MaxLength is the length of the longest expression, in characters.
	MaxLength = 1024
	// maxCost bounds the operations of one evaluation: some thirty for each of the largest number of series.
	maxCost = 100_000
	// maxDepth bounds the nesting of an expression, maxNested that of its loops over lists.
	maxDepth, maxNested = 32, 2
	// checkEvery is the number of turns of a loop after which the time limit is looked at, which is evalTimeout.
	checkEvery  = 10
	evalTimeout = time.Second / 2
	// maxSyntax bounds the text of the compiler in an error, in characters.
	maxSyntax = 300
)

// The variables of an expression.
const (
	// result is the value of a single sample, and the list of samples if there are several.
	result = "result"
	// results is the list of samples, whatever their number. Each is a map with the fields metric (its labels) and value.
	results = "results"
)

// Expression is a compiled expression. The zero Expression is the default: no sample is 0.
type Expression struct {
	program cel.Program
	text    string
}

// Compile compiles an expression; an empty one is the default. An error names the place in the expression.
func Compile(text string) (Expression, error) {
	if text == "" {
		return Expression{}, nil
	}
	env, err := environment()
	if err != nil {
		return Expression{}, err
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return Expression{}, fmt.Errorf("want a CEL expression over %s and %s: column %d: %s", result, results, first.Location.Column()+1,
			shorten(first.Message))
	}
	if kind := ast.OutputType(); !kind.IsExactType(cel.BoolType) && !kind.IsExactType(cel.DynType) {
		return Expression{}, fmt.Errorf("want an expression that is true or false, found one of type %s", kind)
	}
	program, err := env.Program(ast, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(checkEvery))
	if err != nil {
		return Expression{}, fmt.Errorf("want a CEL expression over %s and %s: %s", result, results, shorten(err.Error()))
	}
	return Expression{program: program, text: text}, nil
}

// environment returns the language of expressions. It has no macro that builds values: an expression that doubles a list in each of many
// steps would otherwise compare for ever within one operation, which no cost limit ends.
func environment() (*cel.Env, error) {
	env, err := cel.NewEnv(
		cel.Variable(result, cel.DynType),
		cel.Variable(results, cel.ListType(cel.MapType(cel.StringType, cel.DynType))),
		cel.ClearMacros(),
		cel.Macros(cel.HasMacro, cel.AllMacro, cel.ExistsMacro, cel.ExistsOneMacro, cel.FilterMacro),
		cel.CrossTypeNumericComparisons(true),
		cel.ParserExpressionSizeLimit(MaxLength),
		cel.ParserRecursionLimit(maxDepth),
		cel.ASTValidators(cel.ValidateComprehensionNestingLimit(maxNested), cel.ValidateRegexLiterals()),
	)
	if err != nil {
		return nil, fmt.Errorf("set up CEL: %w", err)
	}
	return env, nil
}

// Judge returns what samples mean to a gate. No sample, and a sample that is not a number, decide nothing.
func (e Expression) Judge(ctx context.Context, all []gates.Series) gates.Sample {
	if len(all) == 0 {
		return gates.UndecidedSample("the query returns nothing")
	}
	for _, s := range all {
		if math.IsNaN(s.Value) {
			return gates.Sample{Verdict: gates.Undecided, Value: valueOf(all), Message: "the query returns a value that is not a number (NaN)"}
		}
	}
	if e.program == nil {
		return byDefault(all)
	}
	passed, err := e.evaluate(ctx, all)
	switch {
	case err != nil:
		return gates.Sample{Verdict: gates.Undecided, Value: valueOf(all), Message: "success can't be evaluated: " + shorten(err.Error())}
	case passed:
		return gates.Sample{Verdict: gates.Positive, Value: valueOf(all), Message: "success is true: " + e.text}
	default:
		return gates.Sample{Verdict: gates.Negative, Value: valueOf(all), Message: "success is false: " + e.text}
	}
}

// byDefault judges samples without an expression.
func byDefault(all []gates.Series) gates.Sample {
	for _, s := range all {
		if s.Value == 0 {
			return gates.Sample{Verdict: gates.Negative, Value: valueOf(all), Message: "the query returns a 0"}
		}
	}
	return gates.Sample{Verdict: gates.Positive, Value: valueOf(all), Message: "the query returns no 0"}
}

var errNoBool = errors.New("want true or false")

func (e Expression) evaluate(ctx context.Context, all []gates.Series) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, evalTimeout)
	defer cancel()
	list := make([]map[string]any, 0, len(all))
	for _, s := range all {
		metric := s.Metric
		if metric == nil {
			metric = map[string]string{}
		}
		list = append(list, map[string]any{"metric": metric, "value": s.Value})
	}
	input := map[string]any{result: any(list), results: list}
	if len(all) == 1 {
		input[result] = all[0].Value
	}
	out, _, err := e.program.ContextEval(ctx, input)
	if err != nil {
		return false, err
	}
	passed, ok := out.Value().(bool)
	if !ok {
		return false, errNoBool
	}
	return passed, nil
}

// valueOf returns samples as users read them: a number with the digits that tell, or how many there are.
func valueOf(all []gates.Series) string {
	if len(all) != 1 {
		return strconv.Itoa(len(all)) + " series"
	}
	return strconv.FormatFloat(all[0].Value, 'g', 4, 64)
}

// shorten returns a text of the compiler on one line and bounded.
func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if all := []rune(text); len(all) > maxSyntax {
		text = string(all[:maxSyntax]) + "..."
	}
	return text
}

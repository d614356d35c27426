package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
)

// namedIn returns the names of fields that the Go code below a folder reads or sets, without what is generated.
func namedIn(folder string) (map[string]bool, error) {
	named := map[string]bool{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, ".gen.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse %s: %w", path, err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				named[n.Sel.Name] = true
			case *ast.KeyValueExpr:
				if key, is := n.Key.(*ast.Ident); is {
					named[key.Name] = true
				}
			}
			return true
		})
		return nil
	})
	return named, err
}

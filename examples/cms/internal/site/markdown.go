package site

import "strings"

// A Block is a paragraph, a heading or a list of rich text. Templates escape blocks, so that text never becomes markup.
type Block struct {
	Heading int      // 1 to 6, or 0
	Text    string   // of a heading or a paragraph
	Items   []string // of a list
}

// blocks parses the supported part of Markdown: paragraphs between blank lines, headings with #, lists with - or *.
// Everything else is shown as text.
func blocks(markdown string) []Block {
	var list []Block
	var paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			list = append(list, Block{Text: strings.Join(paragraph, " ")})
			paragraph = nil
		}
	}
	inList := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		level := len(line) - len(strings.TrimLeft(line, "#"))
		item, isItem := strings.CutPrefix(line, "- ")
		if !isItem {
			item, isItem = strings.CutPrefix(line, "* ")
		}
		switch {
		case line == "":
			end()
			inList = false
		case level >= 1 && level <= 6 && strings.HasPrefix(line[level:], " "):
			end()
			list = append(list, Block{Heading: level, Text: strings.TrimSpace(line[level:])})
			inList = false
		case isItem:
			end()
			if !inList {
				list = append(list, Block{})
				inList = true
			}
			last := &list[len(list)-1]
			last.Items = append(last.Items, strings.TrimSpace(item))
		default:
			inList = false
			paragraph = append(paragraph, line)
		}
	}
	end()
	return list
}

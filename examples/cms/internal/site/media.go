package site

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // sizes of images
	_ "image/jpeg" // sizes of images
	_ "image/png"  // sizes of images
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// MaxUpload is the largest uploaded file, in bytes.
const MaxUpload = 16 << 20

// Media is an uploaded file, such as an image.
type Media struct {
	ID        string    `json:"id"` // med_…
	Name      string    `json:"name"`
	Path      string    `json:"path"` // its address on the site, for contents: /uploads/…
	MimeType  string    `json:"mimeType"`
	MimeGroup string    `json:"mimeGroup"` // image, video, audio or document
	Size      int64     `json:"size"`      // bytes
	Width     *int      `json:"width,omitempty"`
	Height    *int      `json:"height,omitempty"`
	Duration  *int      `json:"duration,omitempty"` // seconds
	Alt       *string   `json:"alt,omitempty"`      // what it shows
	CreatedAt time.Time `json:"createdAt"`
}

// ListMedia is the request of [Site.ListMedia].
type ListMedia struct {
	Group string `json:"group,omitempty"` // image, video, audio or document; all if empty
	Query
}

// UploadMedia is the request of [Site.UploadMedia].
type UploadMedia struct {
	Name    string    `json:"name"` // of the file
	Alt     string    `json:"alt"`  // what it shows
	Content io.Reader `json:"-"`    // at most MaxUpload bytes
}

// UpdateMedia is the request of [Site.UpdateMedia]. Absent fields don't change.
type UpdateMedia struct {
	Media string  `json:"media"` // id
	Name  *string `json:"name,omitempty"`
	Alt   *string `json:"alt,omitempty"`
}

// A fileType is a type of files that is accepted.
type fileType struct{ group, ext string }

// fileTypes are the accepted types, by what [http.DetectContentType] finds in the first bytes. SVG
// and HTML aren't among them, because they can contain scripts.
var fileTypes = map[string]fileType{
	"image/png": {"image", ".png"}, "image/jpeg": {"image", ".jpg"}, "image/gif": {"image", ".gif"},
	"image/webp": {"image", ".webp"},
	"video/mp4":  {"video", ".mp4"}, "video/webm": {"video", ".webm"},
	"audio/mpeg": {"audio", ".mp3"}, "audio/wave": {"audio", ".wav"}, "application/ogg": {"audio", ".ogg"},
	"application/pdf": {"document", ".pdf"}, "text/plain": {"document", ".txt"},
}

// sameExtension are other extensions of the same types.
var sameExtension = map[string]string{".jpeg": ".jpg", ".m4v": ".mp4", ".oga": ".ogg", ".md": ".txt", ".csv": ".txt"}

// UploadMedia stores a file and returns it. Its type is that of its first bytes; a name with the
// extension of another type is refused. The file is complete on disk before its row is stored, and
// removed again if that fails.
func (s *Site) UploadMedia(ctx context.Context, in UploadMedia) (*Media, error) {
	content, err := io.ReadAll(io.LimitReader(in.Content, MaxUpload+1))
	if err != nil {
		return nil, fmt.Errorf("site: reading an upload: %w", err)
	}
	m := &Media{ID: newID(mediaID), Name: strings.TrimSpace(filepath.Base(in.Name)), Alt: &in.Alt}
	if len(content) > MaxUpload {
		return nil, &Error{Code: CodeTooLarge, Message: "the file is larger than 16 MiB", Hint: "upload a smaller one"}
	}
	stored, err := commit(ctx, s, "uploading a file", func(tx *txn) (*Media, error) {
		if err := s.store(tx, m, content); err != nil {
			return nil, err
		}
		return mediaTable.find(tx, m.ID)
	})
	if err != nil && m.Path != "" {
		return nil, errors.Join(err, os.RemoveAll(s.file(m.Path)))
	}
	return stored, err
}

// store writes a file and its row.
func (s *Site) store(tx *txn, m *Media, content []byte) error {
	if err := m.check(); err != nil {
		return err
	}
	ext, err := m.detect(content)
	if err != nil {
		return err
	}
	m.Path = path.Join("/uploads", siteID, environmentID, m.ID+ext)
	file := s.file(m.Path)
	if err := cmp.Or(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, content, 0o600)); err != nil {
		return fmt.Errorf("uploading: %w", err)
	}
	tx.insert("media", record{"id": m.ID, "site_id": siteID, "environment_id": environmentID, "name": m.Name,
		"path": m.Path, "mime_type": m.MimeType, "mime_group": m.MimeGroup, "size": len(content), "width": m.Width,
		"height": m.Height, "alt": m.Alt, "search": searchText(m.Name, *m.Alt), "created_at": tx.now})
	return nil
}

// detect sets the type of the file and returns its extension.
func (m *Media) detect(content []byte) (ext string, err error) {
	m.MimeType, _, _ = strings.Cut(http.DetectContentType(content), ";")
	kind, ok := fileTypes[m.MimeType]
	named := strings.ToLower(filepath.Ext(m.Name))
	if !ok || cmp.Or(sameExtension[named], named) != kind.ext {
		return "", &Error{Code: CodeMediaType,
			Message: fmt.Sprintf("%q is refused: its content is of the type %s", m.Name, m.MimeType),
			Hint: "upload an image (png, jpg, gif, webp), a video (mp4, webm), audio (mp3, wav, ogg) or a " +
				"document (pdf, txt), with the extension of its type"}
	}
	m.MimeGroup = kind.group
	if size, _, err := image.DecodeConfig(bytes.NewReader(content)); err == nil {
		m.Width, m.Height = &size.Width, &size.Height
	}
	return kind.ext, nil
}

func (m *Media) check() error {
	return cmp.Or(inField("name", checkText("the file's name", m.Name, 1, maxLabel)),
		inField("alt", checkText("the text of alt", *m.Alt, 0, maxDescription)))
}

// file returns where the file with a path on the site is stored.
func (s *Site) file(address string) string {
	return filepath.Join(s.uploads, filepath.FromSlash(strings.TrimPrefix(address, "/uploads/")))
}

// Uploads are the uploaded files. The address /uploads/a/b is the file a/b.
func (s *Site) Uploads() fs.FS { return os.DirFS(s.uploads) }

// ServeUploads serves the uploaded files under /uploads/, without lists of folders.
func (s *Site) ServeUploads() http.Handler {
	files := http.StripPrefix("/uploads", http.FileServerFS(s.Uploads()))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Ext(r.URL.Path) == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		files.ServeHTTP(w, r)
	})
}

// ListMedia lists the uploaded files, the newest first.
func (s *Site) ListMedia(ctx context.Context, in ListMedia) (List[*Media], error) {
	return view(ctx, s, "listing media", func(tx *txn) (list List[*Media], err error) {
		if in.Group != "" {
			if err := oneOf("group", in.Group, mimeGroups...); err != nil {
				return list, err
			}
		}
		return mediaTable.list(tx, in.Query, "(?2 = '' OR mime_group = ?2)", "created_at DESC, id", in.Group), nil
	})
}

// GetMedia returns the file with this id.
func (s *Site) GetMedia(ctx context.Context, id string) (*Media, error) {
	return view(ctx, s, "reading media", func(tx *txn) (*Media, error) { return mediaTable.find(tx, id) })
}

// UpdateMedia changes the name and the description of a file.
func (s *Site) UpdateMedia(ctx context.Context, in UpdateMedia) (*Media, error) {
	return commit(ctx, s, "updating media", func(tx *txn) (*Media, error) {
		m, err := mediaTable.find(tx, in.Media)
		if err != nil {
			return nil, err
		}
		set(&m.Name, in.Name)
		m.Alt = cmp.Or(in.Alt, m.Alt, new(""))
		if err := m.check(); err != nil {
			return nil, err
		}
		tx.update("media", m.ID, record{"name": m.Name, "alt": m.Alt, "search": searchText(m.Name, *m.Alt)})
		return m, nil
	})
}

// DeleteMedia removes a file that no page shows, and returns what it was. The file is deleted after
// its row.
func (s *Site) DeleteMedia(ctx context.Context, id string) (*Media, error) {
	m, err := commit(ctx, s, "deleting media", func(tx *txn) (*Media, error) {
		m, err := mediaTable.find(tx, id)
		if err != nil {
			return nil, err
		}
		for _, ref := range []string{m.ID, m.Path} {
			if pages := linkedFrom(tx, ref); len(pages) > 0 {
				return nil, conflict("remove it from them first", "media %s is shown on the pages %s", m.ID,
					strings.Join(pages, ", "))
			}
		}
		tx.exec("DELETE FROM media WHERE id = ?", m.ID)
		return m, nil
	})
	if err != nil {
		return nil, err
	}
	if err := os.Remove(s.file(m.Path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("site: deleting the file of media %s: %w", m.ID, err)
	}
	return m, nil
}

var mediaTable = table[*Media]{what: "media", prefix: mediaID, where: "id = ?1",
	names:   "SELECT id FROM media ORDER BY created_at DESC LIMIT 20",
	from:    "media",
	columns: "id, name, path, mime_type, mime_group, size, width, height, duration, alt, created_at",
	scan: func(scan scanner) (*Media, error) {
		var m Media
		return &m, scan(&m.ID, &m.Name, &m.Path, &m.MimeType, &m.MimeGroup, &m.Size, &m.Width, &m.Height, &m.Duration,
			&m.Alt, at{&m.CreatedAt})
	}}

// checkMedia checks the value of an image or media slot: its media must exist and be of one of the
// slot's groups. The address may be left out if an id is given, and is filled in.
func (s Slot) checkMedia(tx *txn, object map[string]any) error {
	if id, _ := object["id"].(string); id != "" {
		m, err := mediaTable.find(tx, id)
		if err != nil {
			return err
		}
		groups := s.Rules.MimeGroups
		if s.Type == TypeImage {
			groups = []string{"image"}
		}
		if len(groups) > 0 && !slices.Contains(groups, m.MimeGroup) {
			return invalid("use media of the group "+strings.Join(groups, " or "),
				"slot %q doesn't take media of the group %s", s.Key, m.MimeGroup)
		}
		if object["url"] == nil {
			object["url"] = m.Path
		}
		if object["alt"] == nil && m.Alt != nil && *m.Alt != "" {
			object["alt"] = *m.Alt
		}
	}
	return s.checkFields(object, []string{"url"}, []string{"id", "alt"})
}

#!/usr/bin/env bash
# Makes the documents of test/fixtures/documents from their sources, with the programs that people use. The results are
# committed, so that tests need none of these programs; run this only to change a document, then look at what changed in the
# markdown: UPDATE_GOLDEN=1 npm test, git diff test/fixtures/documents.
#
# Debian 12: apt-get install --no-install-recommends libreoffice-writer libreoffice-calc libreoffice-impress pandoc chromium \
#   python3-xlsxwriter qpdf zip p7zip-full fonts-liberation fonts-dejavu-core
set -euo pipefail
cd "$(dirname "$0")/../test/fixtures/documents"
export SOURCE_DATE_EPOCH=1790000000 TZ=UTC LC_ALL=C.UTF-8

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# name of the source, format, name of the result
with_libreoffice() {
  soffice --headless -env:UserInstallation="file://$work/profile" --convert-to "$2" --outdir "$work/out" "source/$1" >/dev/null 2>&1
  mv "$work/out/${1%.*}.${2%%:*}" "$3"
}

with_libreoffice letter.fodt docx writer.docx
with_libreoffice letter.fodt odt writer.odt
with_libreoffice letter.fodt pdf writer.pdf
with_libreoffice accounts.fods xlsx calc.xlsx
with_libreoffice accounts.fods ods calc.ods
with_libreoffice accounts.fods csv calc.csv
with_libreoffice slides.fodp pptx impress.pptx
with_libreoffice slides.fodp odp impress.odp

for format in docx odt epub html; do pandoc --standalone source/report.md -o "pandoc.$format"; done
pandoc source/slides.md -o pandoc.pptx

# As Excel writes workbooks: shared strings, styles, cached results of formulas.
/usr/bin/python3 source/fees.py excel.xlsx

# As mail programs write messages: encoded words, alternatives, attachments, a message inside.
/usr/bin/python3 source/mail.py mail.eml

# A browser's print to PDF. Fonts are embedded, so scripts that need a font of their own are left out.
sed 's/ and 東京 🚢//' source/report.md | pandoc --standalone --no-highlight -f markdown -t html |
  sed 's/↩︎//; s/font-family: [^;]*monospace/font-family: Liberation Mono/' >"$work/report.html"
chromium --headless --no-sandbox --disable-gpu --no-pdf-header-footer --print-to-pdf="$work/browser.pdf" "$work/report.html" 2>/dev/null
# Only packed better, to keep it small.
qpdf --recompress-flate --compression-level=9 --object-streams=generate "$work/browser.pdf" browser.pdf

# Locked with a password.
qpdf --encrypt secret owner 256 -- writer.pdf locked.pdf
printf 'secret\n' >"$work/secret.txt"
rm -f locked.zip locked-aes.zip mixed.zip
zip -q -j -P secret locked.zip "$work/secret.txt"
7z a -bso0 -psecret -mem=AES256 locked-aes.zip "$work/secret.txt"

# What people zip: folders, a document, code, a picture, what the system adds.
mkdir -p "$work/mixed/notes" "$work/mixed/__MACOSX"
cp writer.docx "$work/mixed/notes/Letter.DOCX"
cp source/fees.py "$work/mixed/fees.py"
printf 'a;b\n1;2\n' >"$work/mixed/table.CSV"
printf 'x' >"$work/mixed/.DS_Store"
printf 'x' >"$work/mixed/__MACOSX/._fees.py"
printf '\x89PNG\r\n\x1a\n' >"$work/mixed/picture.png"
(cd "$work/mixed" && zip -q -r - . -x . && true) >mixed.zip

ls -l

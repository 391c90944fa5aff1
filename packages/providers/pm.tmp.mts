import PostalMime from 'postal-mime'
import { convert } from 'html-to-text'
const bounce=`Return-Path: <>\r\nFrom: Mail Delivery Subsystem <mailer-daemon@x.example>\r\nTo: cal@a.example\r\nSubject: Delivery Status Notification (Failure)\r\nContent-Type: multipart/report; report-type=delivery-status; boundary="b"\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nfailed.\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; x\r\n\r\nFinal-Recipient: rfc822; ada@x.example\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nMessage-ID: <op1@a.example>\r\nSubject: x\r\nContent-Type: text/plain\r\n\r\norig body\r\n--b--\r\n`
const p=await PostalMime.parse(Buffer.from(bounce),{forceRfc822Attachments:true})
console.log(p.text, p.attachments.map(a=>[a.mimeType, typeof a.content==='string'?a.content:Buffer.from(a.content as ArrayBuffer).toString()]), p.headers.length, p.returnPath)
const h=await PostalMime.parse('From: a@b\r\nContent-Type: text/html\r\n\r\n<p>Hi &amp; <b>x</b></p><blockquote>q</blockquote>')
console.log(h.text,h.html)
console.log(await PostalMime.parse('').catch((e:Error)=>e.message))
const t=async(n:string,raw:string|Buffer)=>{const s=Date.now();let r='';try{await PostalMime.parse(raw,{forceRfc822Attachments:true})}catch(e){r=(e as Error).message};console.log(n,raw.length,Date.now()-s,'ms',r)}
const H='From: a@b\r\nContent-Type: '
await t('plain',H+'text/plain\r\n\r\n'+'a\n'.repeat(5e6))
await t('oneline',H+'text/plain\r\n\r\n'+'a'.repeat(1e7))
await t('qp',H+'text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n'+'=C3=BC=\n'.repeat(1e6))
await t('b64',H+'text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n'+'QUFB\n'.repeat(2e6))
await t('html',H+'text/html\r\n\r\n'+'<div>'.repeat(2e6))
await t('html2',H+'text/html\r\n\r\n'+'<'.repeat(1e7))
await t('mix html+text',H+'multipart/mixed; boundary=b\r\n\r\n'+('--b\r\nContent-Type: text/html\r\n\r\n'+'<a '.repeat(5e5)+'\r\n--b\r\nContent-Type: text/plain\r\n\r\nx\r\n').repeat(3)+'--b--')
await t('boundaries',H+'multipart/mixed; boundary=b\r\n\r\n'+'--b\r\n'.repeat(1e6))
await t('parts',H+'multipart/mixed; boundary=b\r\n\r\n'+'--b\r\n\r\nx\r\n'.repeat(5e5))
await t('headers',Array.from({length:1e5},(_,i)=>`X-${i}: ${'y'.repeat(9)}`).join('\r\n')+'\r\n\r\nx')
await t('folded','Subject: x\r\n'+' y\r\n'.repeat(3e5)+'\r\nx')
await t('encoded words','Subject: '+'=?utf-8?q?=C3=BC?= '.repeat(5e4)+'\r\n\r\nx')
await t('to','To: '+'a@b, '.repeat(2e5)+'\r\n\r\nx')
await t('to2','To: '+'<"('.repeat(3e5)+'\r\n\r\nx')
await t('nest',H+'multipart/mixed; boundary=b0\r\n\r\n'+Array.from({length:250},(_,i)=>`--b${i}\r\nContent-Type: multipart/mixed; boundary=b${i+1}\r\n\r\n`).join('')+'x\r\n'.repeat(1e6))
const c=(n:string,html:string)=>{const s=Date.now();let r='';try{r=convert(html,{limits:{maxInputLength:1<<20,maxDepth:200},wordwrap:false}).slice(0,10)}catch(e){r='THROW '+(e as Error).message};console.log('h2t',n,html.length,Date.now()-s,'ms',r)}
c('div','<div>'.repeat(2e5)); c('lt','<'.repeat(1e6)); c('a','<a '.repeat(3e5)); c('text','a '.repeat(5e5)); c('nl','\n'.repeat(1e6)); c('table','<table><tr><td>'.repeat(6e4)); c('p','<p>x'.repeat(2e5)); c('bq','<blockquote>'.repeat(8e4)); c('ent','&amp;'.repeat(2e5)); c('li','<ul><li>'.repeat(1e5)); c('br','<br>'.repeat(2e5)); c('comment','<!--'.repeat(2e5)); c('spaces',' '.repeat(1e6)); c('longword','x'.repeat(1e6))

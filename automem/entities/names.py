"""Common given names, lower-case, by which a capitalised word is read as a person.

Those that are as often another word or a product need a family name, or words around that tell a person.
"""

from __future__ import annotations

_NAMES = """
aaron abby abdul abdullah abel abena abigail adaeze adam adebayo adele aditya adrian adriana agnes
agnieszka ahmad ahmed aidan aiden aisha akiko akira alan alana albert alberto aled alejandra alejandro
alena alessandra alessandro alex alexander alexandra alexandre alexei alexis alfonso alfred ali alice
alicia alina aline alison alistair allan allen allison alma alvaro alyssa amanda amara amelia amina amir
amit amparo amy ana anastasia anastasiya anders andre andrea andreas andrei andrew andrey andy aneta angela
angelica angelina angus anika anil anita anja anjali anke ankit ann anna annabelle anne annegret annette
annie annika anthony antoine anton antonia antonio anya aoife ari arjun armando arnold arthur arturo arun
asha ashlee ashleigh ashley astrid audrey augustus aurelie aurora ava axel ayesha barbara barry bart bashir
beatrice beatriz becky belinda ben benedict benjamin benny benoit bernadette bernard bernardo bert beth
bethany betsy betty bianca birgit bjarne bjorn bob bobby bogdan bogna boris brad bradley brandon brenda
brendan brent brett brian brianna bridget britney brittany bronwyn brooke bruce bruno bryan bryce caitlin
caleb calvin cameron camila camille candice caren carl carla carlo carlos carmen caro carol carole caroline
carolyn carrie casey cassandra cassie catalina caterina catherine cathy cecilia cedric celia celine cesar
chad chandra chantal charlene charles charlie charlotte chen cheng cheryl chiara chidi chinedu chloe chris
christa christina christine christoph christopher christy ciara ciaran cindy claire clara clarence clarissa
claudia claudio clement clifford clyde cody colin colleen connie connor conor constance consuelo corey
corinne cormac courtney craig cristian cristina curtis cynthia cyril daisuke damian damien dan dana daniel
daniela daniele danielle danny daphne darius darnell darren darryl daryl dave david deanna deb debbie
deborah dee deepak deepika deirdre denis denise dennis derek desmond detlef devin diana diane diego dieter
dimitri dina dirk divya dmitri dmitriy dmitry dolores dominic dominik dominique donald donna doris dorothy
doug douglas dragan duarte duncan dustin dylan eamon earl ed eddie edgar edith edmund eduardo edward edwin
eileen ekaterina elaine eleanor elena eleni eli eliana elias elijah elisa elisabeth elise eliza elizabeth
elke ella ellen ellie elliot elliott elsa elsie elvira emeka emil emilia emilie emilio emily emma emmanuel
enrico enrique eoin erica erich erik erika erin ernest ernesto esme esteban esther ethan eugene eva evan
evelyn ezra fabian fabio fabrice farah farid fatima federico felicia felicity felipe felix fergus
fernanda fernando ferran fiona florian frances francesca francesco francis francisco francois francoise
frank franz fred freddie frederic frederick frederik freya frida friedrich gabriel gabriela gabriele
gabriella gaelle gareth gary gavin gemma geoff geoffrey george georgina gerald gerard gerda gertrude gethin
gianna gideon gilbert giles gillian gina giorgio giovanni gisela giulia giuseppe gladys glen glenn gloria
gonzalo goran gordon graham greg gregor gregory greta guido guillaume guillermo gunther gus gustav gustavo
gwen gwyneth hailey hamish hamza hana hanna hannah hans hao harold harriet harry hartmut haruka harvey
hassan heather hector heidi heike heiko heinrich helen helena helene helga henri henrik henry herbert
herman hilary hilda hiroshi holger holly howard hussein ian ibrahim ida ifeoma ignacio igor ilona ilse
imran inaki ines ingrid irene irina irma isaac isabel isabella isabelle isaiah isla ismail ivan ivana ivy
jack jackie jacob jacqueline jacques jaime jake jakob jakub jamal james jamie jan jana jane janet janice
janine jared jasmine jason javier jay jean jeanette jeanne jeff jeffrey jelena jen jenna jennie jennifer
jenny jeremiah jeremy jerome jerry jesse jessica jessie jesus jia jiho jill jim jimena jimmy jin jo joachim
joan joana joanna joanne joao joaquin jochen jody joe joel joey johan johann johanna johannes john johnny
jon jonah jonas jonathan jordi jorg jorge jose josef josefa josefine joseph josephine josh joshua josie
joyce juan juana juanita judith judy jules julian juliana julianna julie julien juliet juliette julio
jurgen justin justine jutta kai kaitlyn kamal kamala karen karim karin karina karl karla karsten kasper
katarina katarzyna kate katerina katharina katherine kathleen kathryn kathy katie katja katrin katrina
katya kay kayla kazuo keiko keira keisha keith kelly kelsey ken kendra kenji kenneth kenny kerry kevin
khadija khalid kiara kieran kim kimberly kiran kirsten klara klaus kofi kristen kristian kristin kristina
krzysztof kumar kurt kwame kyle kylie kyra lakshmi lara larissa larry lars latoya laura lauren laurence
laurent laurie lea leah leandro lee lei leila lena lennart leo leon leonard leonardo leonie leonor leroy
leslie leticia lewis li liam lidia lila lilian liliana lillian lina linda lindsay lindsey linh linus lionel
lisa liu liv livia liz liza lizzie lloyd loic lois lorena lorenzo loretta lori lorraine lotte louis louisa
louise lourdes luc luca lucas lucia luciana luciano lucien lucinda lucy ludwig luigi luis luisa luka lukas
lukasz luke luna luther lydia lynn mabel maddie mads magdalena maggie magnus mahmoud maja malcolm
malgorzata malik mandy manfred manish manuel manuela mara marc marcel marcela marcello marcia marco marcos
marcus margaret margarita margot maria mariam marian mariana marianne marie marilyn marina mario marion
marisa marisol marjorie marko marlene marta martha martin martina marty marvin mary mateo mathias mathieu
mathilde mathis matilda matt matteo matthew matthias maureen maurice mauricio maurizio max maxim maxime
maximilian maya megan mehmet mei mel melanie melinda melissa melvin mercedes meredith mia michael michaela
michal michel michele michelle mick miguel mika mikael mike mikhail mila milan milena millie milo milos
mina mindy ming minh minjun mira miranda miriam mitch mitchell moana mohamed mohammad mohammed moira molly
mona monica monika monique morgan moritz muhammad muriel mustafa myra nadeem nadia nadine nancy naoki naomi
nasser natalia natalie natasha nate nathalie nathan nathaniel neha neil nelly nelson ngozi nguyen nia niall
niamh nicholas nick nicklas nico nicola nicolas nicole niels nigel nikhil nikita nikolai nils nina nkechi
noah noel noelia noemi noor nora norbert noreen norma norman nour noémie nuno nuria octavia odile oksana
oleg olena olga oliver olivia olivier oluwaseun omar omid ondrej oscar oskar osman otto owen pablo padraig
paige paloma pamela paolo pascal patricia patricio patrick patrik patty paul paula paulina pauline pavel
pedro peggy penelope penny pete peter petra phil philip philipp philippa philippe phillip phoebe phyllis
pia pierre pilar piotr polly pooja prakash pranav priya priyanka qing quentin quinn rachel rafael raffaele
rahul raj rajesh rakesh ralph ramon ramona randall randy raphael raquel rashid raul ravi ravindra raymond
rebecca regina reinhard renata renate rene renee reza rhonda rhys ricardo richard rick ricky rita rob
robbie robert roberta roberto robin rocio rodney rodrigo roger rohan rohit roland rolf ron ronald ronan
ronnie rory rosa rosalie rosalind rosanna rosario rosemary rosie ross roxanne roy ruben rudolf rudy rupert
russell ruth ryan sabine sabrina sadie saeed salim sally salma salvador salvatore sam samantha samara samir
sammy samuel sandeep sandra sanjay santiago santosh saoirse sara sarah sasha saskia satoshi scott sean
sebastian sebastien selena selina serena serge sergei sergey sergio seth shannon sharon shaun shauna shawn
sheila shelby shelly sheryl shirley shreya sidney siegfried sigrid silke silvia simon simona simone siobhan
sipho sofia sofie solene sonia sonja sophia sophie soren soyeon stacey stacy stanley stefan stefania
stefanie steffen stella stephan stephane stephanie stephen sterling steve steven stuart sunil sunita suresh
susan susana susanna susanne susie suzanne sven svenja svetlana swantje sylvain sylvia sylvie tabitha
takashi takeshi tamara tammy tania tanya tara taras tariq tatiana ted teresa terrence terry tessa thabo
theo theodore theresa therese thibault thierry thomas thorsten thuy tiago tiffany tilly tim timothy tina
tobias todd tom tomas tomek tommy toni tony torsten tracey tracy travis trevor tricia tristan troy tunde
tyler tyrone ulrich ulrike uma umar ursula uwe valentin valentina valeria valerie vanessa varun vera verena
vernon veronica veronika veronique vicente vicki vicky victor victoria vijay vikram viktor vince vincent
vincenzo viola violeta vivian viviana vivienne vladimir volker walter wanda wang warren wayne wei wendy
werner wesley wilfred wilhelm willem william willie wojciech wolfgang xavi xavier xiao ximena xin yan
yannick yara yasmin yasmina yasmine yaw yoko yolanda yosef yousef yuki yulia yumi yumiko yuna yuri
yusuf yvette yvonne zach zachary zack zahra zainab zanele zara zdenek zeynep zhang zhao zoe zoey zofia
zoran
"""

_AMBIGUOUS = """
amber art bill chase chip christian claude cliff dale dawn dean drew eve faith gene glen grace grant hope
hugo hunter iris jasmine joy julia lily mark miles olive pat rich rose ruby sue will
"""

GIVEN_NAMES = frozenset(_NAMES.split())
AMBIGUOUS_NAMES = frozenset(_AMBIGUOUS.split())
"""Given names that are words, too: a family name has to follow."""
